// Writes the corpus of paths_fuzz.cc: what is done, line by line.
#include <string>
#include <utility>

#include "seed_file.h"

namespace {

// Forty links on the way are not too many, one more is.
std::string links(int count) {
  std::string path = "s";
  for (; count > 0; --count) path += "self/";
  return path + "file\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const subako::fuzz::SeedFolder folder(argv[1]);
  const std::string name(255, 'n');
  const std::string slashes(4000, '/');
  for (const auto& [file, lines] : std::initializer_list<std::pair<const char*, std::string>>{
           {"plain", "sfile\nodir\nsdir/inner\nsdir/deep/er\nsabsent\nsfile/x\nsdir/absent/x\noempty/\n"},
           {"dots", "s.\nsdir/..\nsdir/../file\nsdir/./deep/.././/inner\nsfile/.\nsfile/..\ns./\n"},
           {"out",
            "s..\nsdir/../..\nsesc/secret\nSesc\nsesc\nsesc/\nsabs/x\nSabs\nsabs\nsroot/etc\nsdir/esc\nSdir/"
            "esc\n"},
           {"out_and_in",
            "Sbounce\nsbounce/\nsself/self/../x\nsdir/up/..\nsdir/up/../out/secret\n/etc/passwd\ns/etc\n"},
           {"links",
            "slf\nSlf\nslf/\nsin/\nsin/inner\nSslashed\nsslashed/inner\nstwice/x\nStwice\nsdir/around/"
            "er\nSdir/deep/file\n"},
           {"circles", std::string("Sloop\nsloop\nsloop/x\nSping\nsping/x\nSdangling\nsdangling/\n") +
                           links(40) + links(41)},
           {"odd", std::string("s\nsa\0b\ns", 8) + name + "\ns" + name + "n\nsdir/" + name + "n/x\n"},
           {"long", "sdir" + slashes + "inner\nsdir" + slashes + slashes + "x\n"},
           {"open",
            "ofile\nofifo\noesc\nOesc\nofile/\nodir/"
            "\nOlf\nolf\nefile\nedir\nEfifo\ncnew\nCdangling\ncdir\ncnew2/\ncesc/x\n"},
           {"enter", "ddir\nsinner\ns..\nsup\nsesc\nmnew\nnnew\tmoved\ndfile\nDup\nddeep\nhx\tlinked\n"},
           {"times", "tfile\ntlf\nTlf\ntesc\nTesc\ntdir/\n"},
           {"read_link", "klf\nkabs\nkroot\nkesc\nkfile\nkdir/up\nkabsent\nklf/\n"},
           {"directories",
            "mnew\nmnew\nmnew/\nmfile\nmdir/..\nmin/made\nmesc/x\nrnew\nrdir\nrempty/\nrfile\nr.\nrdir/"
            "..\nrin\nrin/\n"},
           {"unlink", "ufile\nudir\nulf/\nudir/.\nuabsent/\nuesc\nuesc/secret\nuin/inner\nudir/\n"},
           {"make_link",
            "lfile\tnew\nl../x\tnew2\nl/etc\tnew3\nl\tnew4\nlx\tfile\nlx\tfile/\nlx\tnew/\nlx\tdir/\nlx\tdir/"
            "..\nlx\tesc/new\n"},
           {"rename",
            "nfile\tnew\nnnew\tfile\nndir\tempty\nnfile/\tx\nnfile\tx/\nnin/\tx\nn.\tx\nnx\tdir/"
            "..\nndir\tdir/x\nnesc/secret\tx\nnlf\tesc/x\n"},
           {"hard_link",
            "hfile\tnew\nhdir\tnew2\nhfile/\tx\nhdir/\tx\nhabsent/\tx\nhlf\tnew3\nhfile\tnew4/"
            "\nhfile\tdir\nh..\tx\nh.\tx\nhesc/secret\tx\n"},
       }) {
    folder.save(file, lines);
  }
}
