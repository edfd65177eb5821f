// Writes the corpus of protocol_fuzz.cc: who reads, and what. `$ID` is the id of the last request.
#include <string>
#include <utility>

#include "protocol/guest_talk.h"
#include "seed_file.h"

using subako::protocol::kGoodDiscovery;
using subako::protocol::kGoodResult;

namespace {

std::string answer(std::string_view result) {
  return R"({"jsonrpc":"2.0","id":"$ID","result":)" + std::string(result) + "}\n";
}

std::string tool(std::string_view members) {
  return R"({"name":"greet",)" + std::string(members) + "}";
}

std::string page(std::string_view tools, std::string_view more = "") {
  return R"({"tools":[)" + std::string(tools) + "]" + std::string(more) + "}";
}

const std::string kTool = tool(R"("inputSchema":{"type":"object"})");

// One keyword of each shape, right and wrong.
const std::string kSchema =
    R"("inputSchema":{"type":"object","$schema":"https://json-schema.org/draft/2020-12/schema","title":"t","required":["a"],)"
    R"("properties":{"a":{"type":["string","null"],"minLength":1,"pattern":"^a","enum":["a"],"default":"b\b\f"},"b":{"type":"array",)"
    R"("items":{"$ref":"#/$defs/x"},"prefixItems":[true],"uniqueItems":true},"c":{"exclusiveMinimum":1,"multipleOf":0.5,"maximum":9},)"
    R"("d":{"allOf":[{}],"not":false,"if":{},"then":{},"dependentRequired":{"a":["b"]},"dependencies":{"a":["b"],"c":{}}}},)"
    R"("$defs":{"x":true},"additionalProperties":false,"$vocabulary":{"u":true}})";
const std::string kWrongSchema =
    R"("inputSchema":{"type":"object","$ref":"https://example.com/x","title":1,"required":"a","properties":{"a\n":{"type":"strange",)"
    R"("minLength":-1,"pattern":2,"enum":{}},"b":{"items":7,"prefixItems":[],"uniqueItems":0,"type":[1]},"c":{"exclusiveMinimum":true,)"
    R"("multipleOf":0,"maximum":"9","maxItems":1.5},"d":{"allOf":{},"not":1,"dependentRequired":{"a":[1]},"dependencies":{"a":1}}},)"
    R"("$defs":[],"$vocabulary":{"u":1},"readOnly":1})";

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const subako::fuzz::SeedFolder folder(argv[1]);
  const std::string discovered = answer(kGoodDiscovery);
  const auto cut = [](char who, const std::string& said) { return std::string(1, who) + '\x06' + said; };
  std::string endless = discovered;
  for (int i = 0; i < 17; ++i) endless += answer(page("", R"(,"nextCursor":"n")"));
  std::string many;
  for (int i = 0; i < 66; ++i)
    many +=
        (i > 0 ? "," : "") + (R"({"name":"t)" + std::to_string(i)) + R"(","inputSchema":{"type":"object"}})";
  for (
      const auto& [name, text] : std::initializer_list<std::pair<const char*, std::string>>{
          {"line_answer", R"(l{"jsonrpc":"2.0","id":"a","result":{}})"},
          {"line_error", R"(l{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}})"},
          {"line_both", R"(l{"jsonrpc":"2.0","id":1,"error":null,"result":{}})"},
          {"line_request", R"(l{"jsonrpc":"2.0","id":1,"method":"m"})"},
          {"line_notification", R"(l{"jsonrpc":"2.0","method":"m","params":{}})"},
          {"line_batch", "l[]"},
          {"line_blank", "l \t\r"},
          {"line_text", "lhello"},
          {"line_number", "l12"},
          {"line_bool", "ltrue"},
          {"line_string", "l\"x\""},
          {"line_null", "lnull"},
          {"line_no_version", R"(l{"id":1,"result":{}})"},
          {"line_version", R"(l{"jsonrpc":2.0})"},
          {"line_no_result", R"(l{"jsonrpc":"2.0","id":1})"},
          {"line_result", R"(l{"jsonrpc":"2.0","id":1,"result":[]})"},
          {"line_no_id", R"(l{"jsonrpc":"2.0","result":{}})"},
          {"call", cut('c', answer(kGoodResult))},
          {"call_twice", cut('c', answer(kGoodResult) + answer(kGoodResult))},
          {"call_notes_first", cut('c', R"({"jsonrpc":"2.0","method":"n"})"
                                        "\n" +
                                            answer(kGoodResult))},
          {"call_unasked", cut('c', R"({"jsonrpc":"2.0","id":"x","result":{}})"
                                    "\n")},
          {"call_error", cut('c', R"({"jsonrpc":"2.0","id":"$ID","error":{"code":1,"message":"no\u001b[1m"}})"
                                  "\n")},
          {"call_error_unasked", cut('c', R"({"jsonrpc":"2.0","id":7,"error":{}})"
                                          "\n")},
          {"call_request", cut('c', R"({"jsonrpc":"2.0","id":1,"method":"ask\n"})"
                                    "\n")},
          {"call_result_type", cut('c', answer(R"({"resultType":"input_required"})"))},
          {"call_bad_result", cut('c', answer(R"({"content":7})"))},
          {"call_no_newline", cut('c', answer(kGoodResult).substr(0, answer(kGoodResult).size() - 1))},
          {"call_text", cut('c', "debug: hello\n")},
          {"call_silent", cut('c', "")},
          {"upload", cut('u', discovered + answer(page(kTool)))},
          {"upload_two_pages",
           cut('u', discovered + answer(page(kTool, R"(,"nextCursor":"")")) + answer(page(kTool)))},
          {"upload_endless", cut('u', endless)},
          {"upload_undiscovered",
           cut('u', answer(R"({"supportedVersions":["2025-06-18"],"capabilities":{}})"))},
          {"tools",
           "t" +
               page(tool(
                   kSchema +
                   R"(,"description":"d","outputSchema":{},"title":"T","annotations":{},"icons":[],"_meta":{})"))},
          {"tools_wrong_schema", "t" + page(tool(kWrongSchema))},
          {"tools_draft_4",
           "t" +
               page(tool(
                   R"("inputSchema":{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"exclusiveMinimum":true,"items":[{}]}}})"))},
          {"tools_twice", "t" + page(kTool) + "\n" + page(kTool)},
          {"tools_many", "t" + page(many)},
          {"tools_wrong",
           "t" +
               page(
                   R"(7,{},{"name":7},{"name":"A b","description":7,"inputSchema":7},{"name":"x","inputSchema":{}},{"name":"y","inputSchema":{"type":"array"},"outputSchema":3})",
                   R"(,"nextCursor":7)")},
          {"tools_none", "t{\"tools\":{}}\n{}\n" + page("")},
          {"result",
           R"(r{"content":[{"type":"text","text":"a"},{"type":"image","data":"iVBORw==","mimeType":"image/png"},{"type":"resource_link","uri":"volume:///tmp/a.png","name":"a"},{"type":"resource_link","uri":"https://x/","name":"x"},{"type":"audio","data":""}],"isError":true,"structuredContent":{"a":1}})"},
          {"result_broken",
           R"(R{"content":[7,{},{"type":"text"},{"type":"image"},{"type":"resource_link","uri":""},{"type":"resource_link","uri":"volume:///data/x","mimeType":"IMAGE/png"},{"type":"\u001b"},{"type":"image","data":"x"}],"structuredContent":null})"},
          {"result_none", "r{\"content\":null}"},
          {"result_is_error", R"(r{"isError":1,"content":[]})"},
          {"result_content", R"(r{"content":{}})"},
          {"uri", "vvolume:///tmp/a%20b/c.png"},
          {"uri_data", "vVOLUME:///data/x"},
          {"uri_no_data", "Vvolume:///data/x"},
          {"uri_dots", "vvolume:///tmp/./a//b/"},
          {"uri_up", "vvolume:///tmp/%2e%2E/x"},
          {"uri_slash", "vvolume:///tmp/a%2Fb"},
          {"uri_zero", "vvolume:///tmp/%00"},
          {"uri_host", "vvolume://h/tmp/x"},
          {"uri_query", "vvolume:///tmp/x?y"},
          {"uri_short", "vvolume:///tmp/%2"},
          {"uri_hex", "vvolume:///tmp/%g0"},
          {"uri_bad", "vvolume:///tmp/%ff"},
          {"uri_other", "vfile:///tmp/x"},
          {"uri_tree", "vvolume:///tmp"},
          {"manifest", R"(m{"abi":1,"name":"greet","description":"Greets.","extra":1,"extra":2})"},
          {"manifest_wrong", R"(m{"abi":"1","name":"A","description":7})"},
          {"manifest_empty", "m{}"},
          {"manifest_name", R"(m{"abi":2,"name":7})"},
          {"manifest_old", R"(m{"functions":[]})"},
          {"manifest_mark", "m\xef\xbb\xbf{}"},
          {"manifest_no_json", "m{\n\"abi\":x}"},
          {"manifest_list", "m[]"},
          {"manifest_long", R"(m{"abi":1,"name":"g","description":")" + std::string(1025, 'x') + "\"}"},
          {"manifest_null", R"(m{"abi":1.0,"name":"g","description":null})"},
          {"arguments", R"(a{ "a" : 9223372036854775808, "b":"\u00e9" })"},
          {"arguments_none", "a"},
          {"arguments_list", "a[]"},
          {"arguments_large_number", R"(a{"a":1e999})"},
          {"arguments_surrogate", R"(a{"a":"\ud800"})"},
          {"arguments_no_json", "a{"},
          {"base64", "b\xffiVBORw0KGgo="},
          {"base64_spaced", "b\xff aV\nBO Rw"},
          {"base64_bounded", std::string("b\x03", 2) + "AAAAAAAA"},
          {"base64_padding",
           "b\xff"
           "AA=="},
          {"base64_after",
           "b\xff"
           "AA==AA"},
          {"base64_left",
           "b\xff"
           "A"},
          {"base64_three",
           "b\xff"
           "==="},
          {"base64_no",
           "b\xff"
           "A-_B"},
          {"discovery", "d" + std::string(kGoodDiscovery)},
          {"discovery_wrong", R"(d{"supportedVersions":"2026-07-28","capabilities":{"tools":true}})"},
          {"discovery_empty", "d{}"},
      }) {
    folder.save(name, text);
  }
}
