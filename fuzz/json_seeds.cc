// Writes the corpus of json_fuzz.cc.
#include <string>
#include <utility>

#include "seed_file.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const subako::fuzz::SeedFolder folder(argv[1]);
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  // The first byte chooses the rules: '0' none, '1' few levels, '2' no lone surrogates, '4' no numbers outside double.
  for (const auto& [name, text] : std::initializer_list<std::pair<const char*, std::string>>{
           {"object", R"(0{"a":1,"b":[true,false,null],"c":{"d":"e"},"":""})"},
           {"spaced", "0 \t\r\n{ \"a\" : [ 1 , 2 ] ,\n\"b\" : { } }\n"},
           {"numbers", "4[0,-0,-0.0,1.5,12e3,1E-2,9223372036854775808,1e300,1e-400,0.1e+1]"},
           {"too_large", "4[1e400]"},
           {"no_numbers", "0[01]"},
           {"minus", "0[-]"},
           {"dot", "01."},
           {"exponent", "01e"},
           {"plus", "0+1"},
           {"strings", R"(0["\"\\\/\b\f\n\r\t\u0000\u00e9\ud83c\udf71","日本🍱",""])"},
           {"surrogate", R"(0"\ud800")"},
           {"surrogate_refused", R"(2"a\udc00b")"},
           {"surrogates_swapped", R"(2"\udc00\ud800")"},
           {"no_escape", R"(0"\x")"},
           {"short_escape", R"(0"\u12)"},
           {"control", "0\"a\nb\""},
           {"open", "0\"abc"},
           {"bad_utf8", "0\"\xff\""},
           {"overlong", "0\"\xc0\xaf\""},
           {"mark", "0\xef\xbb\xbf{}"},
           {"twice", R"(0{"a":1,"a":2,"\u0061":3})"},
           {"deep", "0" + nested(130)},
           {"too_deep", "1" + nested(4)},
           {"deep_enough", "1" + nested(3)},
           {"comma", "0[1,]"},
           {"no_comma", "0[1 2]"},
           {"no_colon", R"(0{"a" 1})"},
           {"no_name", "0{1:2}"},
           {"brace", "0{"},
           {"after", "0{} x"},
           {"empty", "0"},
           {"words", "0nul"},
           {"word", "0true"},
           {"long", "0\"" + std::string(300, 'x') + "\\n\""},
       }) {
    folder.save(name, text);
  }
}
