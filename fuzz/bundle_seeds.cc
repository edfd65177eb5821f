// Writes the corpus of bundle_fuzz.cc: small bundles of each format, and each thing that a bundle mustn't hold.
#include <string>
#include <utility>
#include <vector>

#include "bundle/bundle_fixture.h"
#include "seed_file.h"

using namespace subako::bundle::testing;

namespace {

// As they lie in a tar, with the end left to the fuzzer.
std::string entries(const std::vector<TarEntry>& more) {
  std::string out =
      tar_entry({"subako-package.json", std::string(kManifest)}) + tar_entry({"module.wasm", kModule});
  for (const TarEntry& entry : more) out += tar_entry(entry);
  return out;
}

std::string sized(const std::string& size) {  // as it stands in the header
  std::string entry = tar_entry({"assets/x", "abc"});
  entry.replace(124, 12, size);
  return entries({}) + entry;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const subako::fuzz::SeedFolder folder(argv[1]);
  const std::string long_name = "assets/" + std::string(200, 'p') + "/日本.txt";
  const auto save = [&](const std::string& name, char how, const std::string& bytes) {
    folder.save(name, how + bytes);
  };

  save("tar", 't', entries({{"assets/d/a", "text"}, {"assets/e/", "", '5'}, {"./assets//b", "b"}}));
  save("tar_as_it_is", 'f', tar_with({{"assets/a", "1"}}));
  save("tar_cut", 'f', tar_with({{"assets/a", std::string(600, 'x')}}).substr(0, 2500));
  save("tar_twice", 'f', tar_with({}) + tar_with({}));
  save("tar_links", 't',
       entries({{"assets/x", "", '1', "module.wasm", 9},
                {"assets/y", "", '2', "/etc"},
                {"assets/z", "", '3'},
                {"p", "", '6'},
                {"q", "", 'Z'}}));
  save("tar_sparse", 't', entries({{"assets/x", "", 'S'}, {"assets/y", "1"}}));
  save("tar_pax", 't',
       entries({{"", pax_record("comment", "hi"), 'g'},
                {"h", pax_record("path", long_name) + pax_record("size", "3"), 'x'},
                {"short", "abc", '0', "", 0}}));
  save("tar_pax_sparse", 't', entries({{"h", pax_record("GNU.sparse.major", "1"), 'x'}, {"assets/x", ""}}));
  save("tar_pax_malformed", 't', entries({{"h", "5 path=x\n", 'x'}, {"assets/x", ""}}));
  save("tar_pax_size", 't',
       entries({{"h", pax_record("size", "18446744073709551615"), 'x'}, {"assets/x", ""}}));
  save("tar_pax_global_path", 't', entries({{"h", pax_record("path", "assets/y"), 'g'}, {"assets/x", ""}}));
  save("tar_gnu", 't',
       entries({{"././@LongLink", long_name + std::string(1, '\0'), 'L'},
                {"short", "def"},
                {"././@LongLink", "to", 'K'},
                {"assets/y", "1"}}));
  save("tar_special_at_end", 't', entries({{"h", "assets/z", 'L'}}));
  save("tar_specials", 't', entries(std::vector<TarEntry>(12, TarEntry{"h", "z", 'L'})));
  save("tar_volume", 't', entries({{"assets/x", "", 'M'}}));
  save("tar_huge", 't', entries({{"assets/x", "", '0', "", 077777777777}}));
  save("tar_base_256", 't', sized(std::string("\x80\0\0\0\0\0\0\0\0\0\0\x03", 12)));
  save("tar_negative", 't', sized(std::string(12, '\xff')));
  save("tar_no_size", 't', sized("00000x00000 "));
  save("tar_paths", 't',
       entries({{"../x", ""},
                {"/x", ""},
                {"assets/../../x", ""},
                {"assets/a\\b", ""},
                {"assets/\xff", ""},
                {"assets", "1"},
                {"other/x", ""},
                {"other/y", ""},
                {".DS_Store", "j"},
                {"assets/a", ""},
                {"assets/a/b", ""},
                {"module.wasm", ""}}));
  save("tar_wrapped", 'f', tar({{"pack/subako-package.json", "{}"}, {"pack/module.wasm", kModule}}));
  save("tar_manifest", 'f', tar({{"subako-package.json", R"({"abi":2})"}, {"module.wasm", kModule}}));
  save("tar_v7", 't', [] {
    std::string all = entries({{"dir/", ""}});
    all.replace(257, 8, std::string(8, '\0'));
    return all;
  }());
  save("tar_prefix", 't', [] {
    std::string entry = tar_entry({"x", "abc"});
    entry.replace(345, 8, "assets/p");
    return entries({}) + entry;
  }());

  save("tar_gz", 'z', entries({{"assets/a", "1"}}));
  save("gzip_as_it_is", 'f', gzip(tar_with({{"assets/a", std::string(3000, 'a')}})));
  save("gzip_members", 'f',
       gzip(tar_with({}).substr(0, 700)) + gzip("") + gzip(tar_with({}).substr(700)) + std::string(9, '\0'));
  save("gzip_more", 'f', gzip(tar_with({})) + "x");
  save("gzip_cut", 'f', gzip(tar_with({})).substr(0, 60));
  save("gzip_of_gzip", 'g', gzip("x"));
  save("gzip_of_nothing", 'g', "");
  save("gzip_wrong", 'f', [] {
    std::string packed = gzip(tar_with({}));
    packed[packed.size() - 6] ^= 1;
    return packed;
  }());

  save("zip", 'f',
       zip_with({{"assets/stored", "abc", 0},
                 {"assets/streamed", "def", 8, 8},
                 {"assets/s2", "ghi", 0, 8},
                 {"assets/dir/", "", 0, 0, 040755},
                 {"assets/日本", std::string(500, 'j'), 8, 0x800}}));
  save("zip_stored", 'f', [] {
    Zip zip;
    zip.add({"subako-package.json", std::string(kManifest), 0});
    zip.add({"module.wasm", kModule, 0});
    zip.add({"assets/x", "abc", 0});
    return zip.done();
  }());
  save("zip64", 'f', zip64());
  save("zip_kinds", 'f',
       zip_with({{"assets/x", "t", 0, 0, 0120777},
                 {"assets/y", "", 0, 0, 020666},
                 {"assets/z", "", 0, 0, 010666},
                 {"assets/s", "", 0, 0, 0140666}}));
  save("zip_encrypted", 'f',
       zip_with({{"assets/x", "abc", 8, 1}, {"assets/y", "abc", 12}, {"assets/z", "abc", 99}}));
  save("zip_paths", 'f',
       zip_with({{"../x", ""},
                 {"/x", ""},
                 {"assets\\x", ""},
                 {std::string("assets/\0", 8), ""},
                 {"assets/\x93\xfa", ""},
                 {"module.wasm", ""},
                 {"assets/" + std::string(1100, 'a'), ""}}));
  save("zip_larger", 'f', zip_with({{"assets/x", std::string(1000, 'a'), 8, 0, 0100644, 10}}));
  save("zip_smaller", 'f', zip_with({{"assets/x", std::string(1000, 'a'), 8, 0, 0100644, 1001}}));
  save("zip_stored_larger", 'f', zip_with({{"assets/x", "abc", 0, 0, 0100644, 2}}));
  save("zip_otherwise", 'f', zip_with({{"assets/x", "", 8, 0, 0100644, -1, "assets/y"}}));
  save("zip_more", 'f', zip_with({}) + "x");
  save("zip_empty", 'f', Zip().done());
  save("zip_twice", 'f', [] {
    Zip zip = whole_zip();
    const ZipFile file{"assets/x", "abc", 0};
    zip.add(file);
    zip.directory += zip.directory.substr(zip.directory.rfind("PK\x01\x02"));
    ++zip.entries;
    return zip.done();
  }());
  save("zip_wrong", 'f', [] {
    std::string zip = zip_with({{"assets/x", "abcabc", 0}});
    zip[zip.find("abcabc")] ^= 1;
    return zip;
  }());

  save("nothing", 'f', "");
  save("module", 'f', kModule);
  save("manifest", 'f', "{");
  save("text", 'f', "hello\x1b[1m");
  save("zeros", 'f', std::string(1024, '\0'));
}
