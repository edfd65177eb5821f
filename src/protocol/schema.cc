#include "protocol/schema.h"

#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "protocol/schema_keyword.h"

namespace subako::protocol {

namespace {

using json::Kind;
using json::Value;

struct Member {
  std::string name;
  Value value;
};

// In the order of the text; of duplicates the last value counts.
std::vector<Member> members_of(const Value& object) {
  std::vector<Member> members;
  std::unordered_map<std::string, size_t> places;
  json::for_each_member(object, [&](const std::string& name, const Value& value) {
    const auto [place, fresh] = places.try_emplace(name, members.size());
    if (fresh) {
      members.push_back({name, value});
    } else {
      members[place->second].value = value;
    }
    return true;
  });
  return members;
}

bool older_draft(const Value& schema) {
  const auto draft = json::find(schema, "$schema");
  if (!draft || !draft->is(Kind::kString)) return false;
  const std::string name = json::decode_string(*draft);
  return name.find("json-schema.org/draft-0") != std::string::npos ||
         name.find("json-schema.org/draft/2019-09") != std::string::npos;
}

// Walks the schemas within a schema. They are kept as a list in which each knows its parent, so that a path
// is made only where a fault is reported.
class Walk {
 public:
  Walk(const Value& schema, const std::function<void(SchemaFault)>& report)
      : report_(report), older_(older_draft(schema)) {
    nodes_.push_back({0, {}, schema});
  }

  void run() {
    for (size_t at = 0; at < nodes_.size(); ++at) {
      const Value schema = nodes_[at].value;
      if (schema.is(Kind::kBool)) continue;
      if (!schema.is(Kind::kObject)) {
        wrong(at, {}, "must be a schema (an object or a boolean)", schema);
        continue;
      }
      for (const Member& member : members_of(schema)) {
        if (const Keyword* keyword = keyword_called(member.name)) check(at, *keyword, member.value);
      }
    }
  }

 private:
  struct Node {
    size_t parent;
    std::string segments;  // from the parent: "/properties/name"
    Value value;
  };

  void check(size_t at, const Keyword& keyword, const Value& value) {
    const std::string segment = "/" + std::string(keyword.name);
    if (const auto fault = plain_fault(keyword.shape, value, older_))
      return wrong(at, segment, *fault, value);
    switch (keyword.shape) {
      case Shape::kReference:
        return check_reference(at, segment, value);
      case Shape::kSchema:
        return add(at, segment, value);
      case Shape::kItems:
        return older_ && value.is(Kind::kArray) ? add_list(at, segment, value) : add(at, segment, value);
      case Shape::kSchemas:
        if (value.is(Kind::kArray) && json::compact_size(value) > 2) return add_list(at, segment, value);
        return wrong(at, segment, "must be an array of at least one schema", value);
      case Shape::kSchemaMap:
      case Shape::kStringsMap:
      case Shape::kDependencies:
      case Shape::kBoolMap:
        return check_map(at, keyword.shape, segment, value);
      default:
        return;
    }
  }

  void check_map(size_t at, Shape shape, const std::string& segment, const Value& value) {
    if (!value.is(Kind::kObject)) return wrong(at, segment, "must be an object", value);
    for (const Member& member : members_of(value)) {
      const std::string inner = segment + "/" + member.name;
      const bool strings =
          shape == Shape::kStringsMap || (shape == Shape::kDependencies && member.value.is(Kind::kArray));
      if (shape == Shape::kBoolMap) {
        if (!member.value.is(Kind::kBool)) wrong(at, inner, "must be true or false", member.value);
      } else if (!strings) {
        add(at, inner, member.value);
      } else if (!is_strings(member.value)) {
        wrong(at, inner, kMustBeStrings, member.value);
      }
    }
  }

  // Of a string.
  void check_reference(size_t at, const std::string& segment, const Value& value) {
    const std::string target = json::decode_string(value);
    if (target.starts_with('#')) return;
    report_({SchemaFault::Kind::kRemoteReference, path(at, segment),
             "leads elsewhere, to " + in_quotes(target) + ", which is never fetched"});
  }

  void add(size_t parent, std::string segments, const Value& value) {
    nodes_.push_back({parent, std::move(segments), value});
  }

  void add_list(size_t parent, const std::string& segment, const Value& list) {
    size_t index = 0;
    json::for_each_element(list, [&](const Value& element) {
      add(parent, segment + "/" + std::to_string(index++), element);
      return true;
    });
  }

  void wrong(size_t at, std::string_view segments, std::string_view what, const Value& found) {
    report_({SchemaFault::Kind::kWrongType, path(at, segments),
             std::string(what) + ", but is " + shortened(found.raw())});
  }

  // The end of a path says more than its beginning.
  [[nodiscard]] std::string path(size_t at, std::string_view last) const {
    std::string text(shortened(last));
    while (at != 0) {
      if (text.size() + nodes_[at].segments.size() > limits::kQuotedBytes) return "…" + text;
      text.insert(0, one_line(nodes_[at].segments));
      at = nodes_[at].parent;
    }
    return text;
  }

  const std::function<void(SchemaFault)>& report_;
  bool older_;
  std::vector<Node> nodes_;
};

}  // namespace

void check_schema(const Value& schema, const std::function<void(SchemaFault)>& report) {
  Walk(schema, report).run();
}

}  // namespace subako::protocol
