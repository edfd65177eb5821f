// Node::see() with a builder of the tests' own (node_test_child.cc): it does as the text after a PNG's
// signature says.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/quote.h"
#include "child/envelope.h"
#include "core/asio.h"
#include "core/loop_fixture.h"
#include "core/node.h"
#include "protocol/json.h"

namespace subako::core {
namespace {

using namespace std::chrono_literals;
using Kind = protocol::ViewBlock::Kind;

const std::string kPng = "\x89PNG\r\n\x1a\n";

class Watch : public CallWatch {
 public:
  void stderr_arrived(uint64_t, std::string_view) override {}
};

class SeeTest : public LoopTest {
 protected:
  SeeTest() : scratch_(*Scratch::create(testing::TempDir())), folder_(*scratch_.make_folder("tmp")) {
    child::silence_decoding();
    trees_.volume = std::make_shared<SessionVolume>(
        1, SessionVolume::Folders{.tmp = Fd(fcntl(folder_.fd(), F_DUPFD_CLOEXEC, 0))}, SessionVolume::Holds::kUnknown);
    make_node(30s);
  }

  void make_node(std::chrono::milliseconds wall) {
    NodeOptions options;
    options.child_executable = NODE_TEST_CHILD;
    options.picture_cpu = 1s;
    options.picture_wall = wall;
    node_ = std::make_unique<Node>(io_, scratch_, options);
  }

  // A link to a file that makes the builder do so.
  std::string link(const std::string& mode) {
    std::ofstream(folder_.path() + "/" + mode + ".png") << kPng << mode;
    std::string name;
    for (const char c : mode) name += c == ' ' ? std::string("%20") : std::string(1, c);
    return R"({"type":"resource_link","uri":"volume:///tmp/)" + name + ".png\"}";
  }

  static CallRecord answered(const std::vector<std::string>& blocks) {
    std::string content;
    for (const std::string& block : blocks) content += (content.empty() ? "" : ",") + block;
    CallRecord record;
    record.outcome = protocol::Answered{"{\"content\":[" + content + "]}"};
    return record;
  }

  std::vector<SeenBlock> see(const std::vector<std::string>& blocks, SeeOptions options = {}) {
    const CallRecord record = answered(blocks);
    auto seen = wait(node_->see(record, trees_, options, nullptr));
    EXPECT_TRUE(seen) << seen.error().message;
    return seen ? *std::move(seen) : std::vector<SeenBlock>{};
  }
  std::string line(const std::string& block) {
    const auto seen = see({block});
    return seen.empty() ? "" : seen.at(0).block.text;
  }

  Scratch scratch_;
  ScratchFolder folder_;
  Trees trees_;
  std::unique_ptr<Node> node_;
};

TEST_F(SeeTest, keeps_the_order_and_carries_the_bytes_sealed) {  // spec: R2
  const auto seen = see({R"({"type":"text","text":"a"})", link("good"),
                         R"({"type":"image","data":"iVBORw0KGgo="})", link("scaled"), R"({"type":"audio"})"});
  ASSERT_EQ(seen.size(), 5U);
  EXPECT_EQ(seen[0].block.text, "a");
  EXPECT_EQ(seen[1].block.text, "[picture: volume:///tmp/good.png, PNG 20 × 10, 12 B]");
  EXPECT_EQ(seen[2].block.text, "[picture: PNG 20 × 10, 8 B]");
  EXPECT_EQ(seen[3].block.text,
            "[picture: volume:///tmp/scaled.png, PNG 2000 × 1000 (scaled from 3000 × 1500), first frame of "
            "an animation, "
            "14 B]");
  EXPECT_EQ(seen[4].block.kind, Kind::kNote);
  ASSERT_TRUE(seen[1].picture && seen[2].picture && seen[3].picture);
  EXPECT_EQ(*bytes_of(*seen[1].picture), kPng + "good");
  EXPECT_TRUE(seen[1].picture->untouched);
  EXPECT_FALSE(seen[3].picture->untouched);
  EXPECT_EQ(write(seen[1].picture->bytes.get(), "x", 1), -1);
  EXPECT_EQ(ftruncate(seen[1].picture->bytes.get(), 0), -1);
}

TEST_F(SeeTest, a_builder_that_lies_or_dies_costs_its_picture_alone) {  // spec: R5
  const std::string lied = "it could not be decoded: the process that decodes it ";
  const std::vector<std::pair<std::string, std::string>> rows{
      {"spin", "it could not be decoded: it took more than 1 s of CPU time"},
      {"segv", lied + "was killed by signal 11 (Segmentation fault)"},
      {"memory", "it could not be decoded: it needed more than 1280 MiB of memory"},
      {"exit", lied + "exited with status 0"},
      {"hangs up", lied + "closed its connection without an answer, went on and was ended"},
      {"garbage", lied + "broke the protocol"},
      {"no message", lied + "sent what is no message"},
      {"nothing", lied + "answered what wasn't asked"},
      {"other job", lied + "answered what wasn't asked"},
      {"fail", "it could not be decoded: the machine is tired"},
      {"other bytes", lied + "wrote another picture than it announced"},
      {"no bytes", lied + "wrote another picture than it announced"},
      {"wrong size", lied + "wrote another picture than it announced"},
      {"other format", lied + "wrote another picture than it announced"},
      {"unknown format", lied + "told of a picture that can't be"},
      {"huge", lied + "told of a picture that can't be"},
      {"too wide", lied + "told of a picture that can't be"},
      {"no width", lied + "told of a picture that can't be"},
      {"maps it", lied + "still writes to it after its end"},
  };
  std::vector<std::string> blocks;
  for (const auto& [mode, reason] : rows) blocks.push_back(link(mode));
  blocks.push_back(link("good"));
  const auto seen = see(blocks);
  ASSERT_EQ(seen.size(), rows.size() + 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(seen[i].block.kind, Kind::kNote) << rows[i].first;
    EXPECT_FALSE(seen[i].picture) << rows[i].first;
    EXPECT_TRUE(seen[i].block.text.ends_with(".png: " + rows[i].second + "]")) << seen[i].block.text;
  }
  EXPECT_TRUE(seen.back().picture);
  EXPECT_TRUE(line(link("too much")).contains(lied)) << "over the limit of files, or of pictures";
}

TEST_F(SeeTest, a_reason_is_short_and_one_line) {  // spec: R2
  const std::string text = line(link("unshowable"));
  EXPECT_TRUE(
      text.starts_with("[picture not shown: volume:///tmp/unshowable.png: it is damaged\\n\\x1b[2Jxxx"))
      << text;
  EXPECT_LT(text.size(), 400U);
  EXPECT_FALSE(text.contains('\n') || text.contains('\x1b'));
}

TEST_F(SeeTest, the_pictures_of_a_result_have_their_time_together) {  // spec: R5
  make_node(300ms);
  const Time begin = now();
  const auto seen = see({link("silent"), link("silent"), link("silent"), link("good")});
  EXPECT_LT(ms_since(begin), 2000);
  for (const SeenBlock& block : seen)
    EXPECT_TRUE(block.block.text.contains("took longer than 0 s")) << block.block.text;
}

TEST_F(SeeTest, results_take_turns_and_only_their_own_time_counts) {  // spec: R5
  make_node(400ms);
  const CallRecord many = answered(std::vector<std::string>(6, link("silent")));
  const CallRecord one = answered({link("good")});
  std::vector<std::pair<std::string, std::vector<SeenBlock>>> ends;
  const auto begin = [&](const char* who, const CallRecord& record) {
    asio::co_spawn(io_, node_->see(record, trees_, {}, nullptr),
                   [&ends, who](const std::exception_ptr&, Result<std::vector<SeenBlock>> seen) {
                     ends.emplace_back(who, *std::move(seen));
                   });
  };
  begin("many", many);
  io_.run_for(50ms);
  // Behind two that run on and four that wait: it has its turn before those, and no time of its own has gone.
  for (int i = 0; i < 3; ++i) begin("one", one);
  run_until([&] { return ends.size() >= 4; });
  for (const auto& [who, seen] : ends) {
    for (const SeenBlock& block : seen)
      EXPECT_EQ(block.picture.has_value(), who == "one") << who << block.block.text;
  }
}

// Open files of this process whose names end so.
size_t open_files(std::string_view name_end) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    count += std::filesystem::read_symlink(entry.path(), gone).native().ends_with(name_end) ? 1 : 0;
  }
  return count;
}

TEST_F(SeeTest, results_that_wait_hold_no_files) {  // spec: R5
  make_node(300ms);
  const std::string inlined = R"({"type":"image","data":"iVBORw0KGgo="})";
  std::vector<std::string> blocks(10, link("silent"));
  blocks.insert(blocks.end(), 10, inlined);
  const CallRecord record = answered(blocks);
  size_t ended = 0;
  size_t shown = 0;
  for (int i = 0; i < 8; ++i) {
    asio::co_spawn(io_, node_->see(record, trees_, {}, nullptr),
                   [&](const std::exception_ptr&, Result<std::vector<SeenBlock>> seen) {
                     ++ended;
                     for (const SeenBlock& block : *seen) shown += block.picture ? 1 : 0;
                   });
  }
  io_.run_for(100ms);
  EXPECT_EQ(ended, 0U);
  EXPECT_LE(open_files("silent.png") + open_files("subako-inline-picture (deleted)"),
            limits::kPictureBuilders);
  run_until([&] { return ended == 8; });
  EXPECT_EQ(shown, 0U) << "those that are silent take the time of the others of their result";
}

TEST_F(SeeTest, what_is_no_picture_any_more_when_its_turn_comes_is_a_note) {  // spec: R3, R5
  make_node(300ms);
  std::optional<Result<std::vector<SeenBlock>>> end;
  const CallRecord two = answered({link("silent"), link("silent")});
  asio::co_spawn(io_, node_->see(two, trees_, {}, nullptr), [](const std::exception_ptr&, auto) {});
  io_.run_for(50ms);
  const CallRecord one = answered({link("good")});
  asio::co_spawn(io_, node_->see(one, trees_, {}, nullptr),
                 [&](const std::exception_ptr&, auto result) { end.emplace(std::move(result)); });
  io_.run_for(50ms);
  ASSERT_EQ(unlink((folder_.path() + "/good.png").c_str()), 0);
  run_until([&] { return end.has_value(); });
  EXPECT_EQ((*end)->at(0).block.text, "[picture not shown: volume:///tmp/good.png: there is no such file]");
}

TEST_F(SeeTest, the_first_20_pictures_are_shown) {  // spec: L8, R4
  std::vector<std::string> blocks;
  for (int i = 0; i < 10; ++i) {
    blocks.push_back(link("good"));
    blocks.push_back(R"({"type":"image","data":"iVBORw0KGgo="})");
    blocks.push_back(
        R"({"type":"resource_link","uri":"volume:///tmp/none.png"})");  // is none, and counts for none
  }
  blocks.push_back(link("good"));
  blocks.push_back(R"({"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"})");
  blocks.push_back(R"({"type":"resource_link","uri":"volume:///tmp/none"})");
  const auto seen = see(blocks);
  ASSERT_EQ(seen.size(), 33U);
  size_t shown = 0;
  for (size_t i = 0; i < 30; ++i) shown += seen[i].picture ? 1 : 0;
  EXPECT_EQ(shown, 20U);
  EXPECT_EQ(seen[2].block.text, "[picture not shown: volume:///tmp/none.png: there is no such file]");
  EXPECT_EQ(seen[30].block.text,
            "[picture not shown: volume:///tmp/good.png: only the first 20 pictures of a result are shown]");
  EXPECT_EQ(seen[31].block.text,
            "[picture not shown: inline image/png: only the first 20 pictures of a result are shown]");
  EXPECT_EQ(seen[32].block.text, "[link: volume:///tmp/none]");
}

TEST_F(SeeTest, a_link_is_a_picture_by_its_bytes) {  // spec: R2, R4
  std::ofstream(folder_.path() + "/plot") << kPng << "good";
  std::ofstream(folder_.path() + "/report.csv") << "a,b";
  std::ofstream(folder_.path() + "/text.png") << "a,b";
  EXPECT_EQ(line(R"({"type":"resource_link","name":"plot","uri":"volume:///tmp/plot"})"),
            "[picture: plot (volume:///tmp/plot), PNG 20 × 10, 12 B]");
  EXPECT_EQ(line(R"({"type":"resource_link","uri":"volume:///tmp/report.csv"})"),
            "[link: volume:///tmp/report.csv]");
  EXPECT_EQ(line(R"({"type":"resource_link","uri":"volume:///tmp/none"})"), "[link: volume:///tmp/none]");
  EXPECT_EQ(line(R"({"type":"resource_link","uri":"volume:///tmp/../plot"})"),
            "[link: volume:///tmp/../plot]");
  EXPECT_EQ(line(R"({"type":"resource_link","uri":"volume:///tmp/report.csv","mimeType":"image/png"})"),
            "[picture not shown: volume:///tmp/report.csv: its bytes are no PNG, JPEG, GIF or WebP]");
  EXPECT_EQ(line(R"({"type":"resource_link","uri":"volume:///tmp/text.png"})"),
            "[picture not shown: volume:///tmp/text.png: its bytes are no PNG, JPEG, GIF or WebP]");
}

TEST_F(SeeTest, a_model_that_reads_no_pictures_gets_notes_and_people_see_them) {  // spec: R2, R4
  const auto seen =
      see({link("good"), R"({"type":"image","data":"iVBORw0KGgo="})", link("segv")}, {.reads_images = false});
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].block.text, "[picture not shown: volume:///tmp/good.png: the model reads no pictures]");
  EXPECT_EQ(seen[1].block.text, "[picture not shown: the model reads no pictures]");
  for (const size_t i : {0, 1}) {
    EXPECT_EQ(seen[i].block.kind, Kind::kNote);
    EXPECT_TRUE(seen[i].picture);
  }
  EXPECT_TRUE(seen[2].block.text.contains("could not be decoded")) << seen[2].block.text;
  EXPECT_FALSE(seen[2].picture);
}

TEST_F(SeeTest, a_cancel_ends_it_at_once) {  // spec: C12
  const CallRecord record = answered({link("silent"), link("silent"), link("silent")});
  for (const bool before : {true, false}) {
    Watch watch;
    if (before) watch.cancel();
    std::optional<Result<std::vector<SeenBlock>>> end;
    asio::co_spawn(io_, node_->see(record, trees_, {}, &watch),
                   [&](const std::exception_ptr&, auto result) { end.emplace(std::move(result)); });
    io_.restart();
    io_.run_for(100ms);
    EXPECT_EQ(end.has_value(), before);
    const Time begin = now();
    watch.cancel();
    run_until([&] { return end.has_value(); });
    EXPECT_LT(ms_since(begin), 100);
    EXPECT_EQ(end->error().code, Code::kCancelled);
  }
  EXPECT_EQ(line(link("good")), "[picture: volume:///tmp/good.png, PNG 20 × 10, 12 B]")
      << "its turns are given back";
}

TEST_F(SeeTest, a_node_that_goes_ends_it) {
  const CallRecord record = answered({link("silent"), link("silent"), link("silent")});
  std::optional<Result<std::vector<SeenBlock>>> end;
  asio::co_spawn(io_, node_->see(record, trees_, {}, nullptr),
                 [&](const std::exception_ptr&, auto result) { end.emplace(std::move(result)); });
  io_.run_for(100ms);
  node_.reset();
  run_until([&] { return end.has_value(); });
  EXPECT_EQ(end->error().code, Code::kUnavailable);
}

TEST_F(SeeTest, a_loop_that_goes_takes_what_runs_with_it) {
  const CallRecord record = answered({link("silent"), link("silent"), link("silent")});
  {
    asio::io_context io;
    NodeOptions options;
    options.child_executable = NODE_TEST_CHILD;
    Node node(io, scratch_, options);
    asio::co_spawn(io, node.see(record, trees_, {}, nullptr), [](const std::exception_ptr&, auto) {});
    io.run_for(100ms);
  }
  EXPECT_EQ(line(link("good")), "[picture: volume:///tmp/good.png, PNG 20 × 10, 12 B]");
}

TEST_F(SeeTest, a_picture_is_drawn_again) {
  const auto seen = see({link("good")});
  ASSERT_TRUE(seen.at(0).picture);
  // The tests' builder sends back what it was given, as it is: that is no PNG of its own making.
  const auto drawn = wait(node_->redraw(*seen[0].picture, {.as = PictureWish::As::kPng}, nullptr));
  ASSERT_FALSE(drawn);
  EXPECT_TRUE(drawn.error().message.contains("wrote another picture than it announced"))
      << drawn.error().message;
  const auto same = wait(node_->redraw(*seen[0].picture, {}, nullptr));
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(*bytes_of(*same), kPng + "good");
}

}  // namespace
}  // namespace subako::core
