// Arguments, clocks, randomness, the end of a process, sockets, and the table of errors.
#include <cerrno>
#include <set>

#include "wasi/guest_test.h"

namespace subako::wasi {
namespace {

class Misc : public Guest {};

TEST_F(Misc, the_package_name_is_the_only_argument) {  // spec: C2
  EXPECT_EQ(call("args_sizes_get", {100, 104}), "SUCCESS");
  EXPECT_EQ(get<uint32_t>(100), 1U);
  EXPECT_EQ(get<uint32_t>(104), 5U);
  // The text may end at the last byte of memory, its NUL too.
  EXPECT_EQ(call("args_get", {200, 65531}), "SUCCESS");
  EXPECT_EQ(get<uint32_t>(200), 65531U);
  EXPECT_EQ(text(65531, 5), std::string("pack\0", 5));
  EXPECT_EQ(call("args_get", {200, 65532}),
            "TRAP args_get: the pointer 0xfffc and its 5 bytes lie outside memory");
  EXPECT_EQ(call("environ_sizes_get", {100, 104}), "SUCCESS");
  EXPECT_EQ(get<uint64_t>(100) | get<uint32_t>(104), 0U);
}

TEST_F(Misc, there_are_two_clocks) {  // spec: F8
  EXPECT_EQ(call("clock_time_get", {0, 0, 104}), "SUCCESS");
  EXPECT_EQ(get<int64_t>(104), clock.wall);
  EXPECT_EQ(call("clock_time_get", {1, 0, 104}), "SUCCESS");
  EXPECT_EQ(get<int64_t>(104), clock.now);
  for (const uint64_t id : {2U, 3U, 9U, 0xffffffffU}) {
    EXPECT_EQ(call("clock_time_get", {id, 0, 104}), "INVAL");
    EXPECT_EQ(call("clock_res_get", {id, 104}), "INVAL");
  }
  EXPECT_EQ(call("clock_res_get", {1, 104}), "SUCCESS");
  EXPECT_GT(get<uint64_t>(104), 0U);
}

TEST_F(Misc, random_bytes_come_at_any_length_in_pieces) {  // spec: F8
  EXPECT_EQ(call("random_get", {0, 0}), "SUCCESS");
  EXPECT_EQ(call("random_get", {65536, 0}), "SUCCESS");
  EXPECT_EQ(call("random_get", {0, 65536}), "SUCCESS");
  EXPECT_GT(std::set<std::byte>(memory.begin(), memory.end()).size(), 200U);
  EXPECT_EQ(call("random_get", {0, 0xffffffffU}),
            "TRAP random_get: the pointer 0x0 and its 4294967295 bytes lie outside memory");
  memory.assign((2 << 20) + 10, std::byte{0});
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(call("random_get", {0, memory.size()}), "WAIT");
    EXPECT_TRUE(host.wake().now);
  }
  EXPECT_EQ(call("random_get", {0, memory.size()}), "SUCCESS");
  EXPECT_NE(std::set<std::byte>(memory.end() - 10, memory.end()), std::set<std::byte>{std::byte{0}});
  EXPECT_EQ(call("random_get", {0, 10}), "SUCCESS");
}

TEST_F(Misc, an_exit_carries_its_whole_code) {  // spec: C9
  EXPECT_EQ(call("proc_exit", {0}), "EXIT 0");
  EXPECT_EQ(call("proc_exit", {0xffffffffU}), "EXIT 4294967295");
  EXPECT_EQ(call("proc_raise", {9}), "NOTSUP");
  EXPECT_EQ(call("proc_raise", {30}), "NOTSUP");
  EXPECT_EQ(call("proc_raise", {31}), "INVAL");
}

TEST_F(Misc, no_descriptor_is_a_socket) {  // spec: F3
  EXPECT_EQ(call("sock_shutdown", {1, 1}), "NOTSOCK");
  EXPECT_EQ(call("sock_shutdown", {99, 1}), "BADF");
  EXPECT_EQ(call("sock_shutdown", {1, 4}), "INVAL");
  EXPECT_EQ(call("sock_accept", {3, 0, 104}), "NOTSOCK");
  EXPECT_EQ(call("sock_accept", {3, 32, 104}), "INVAL");
  EXPECT_EQ(call("sock_recv", {1, 200, 0, 4, 104, 108}), "INVAL");
  EXPECT_EQ(call("sock_send", {1, 200, 0, 1, 104}), "INVAL");
}

TEST_F(Misc, kernel_errors_have_the_guests_numbers) {
  EXPECT_EQ(errno_of(static_cast<std::errc>(EDQUOT)), Errno::kDquot);
  EXPECT_EQ(errno_of(static_cast<std::errc>(EXDEV)), Errno::kXdev);
  EXPECT_EQ(errno_of(static_cast<std::errc>(ENOTSUP)), Errno::kNotSup);
  EXPECT_EQ(errno_of(static_cast<std::errc>(EWOULDBLOCK)), Errno::kAgain);
  EXPECT_EQ(errno_of(static_cast<std::errc>(99999)), Errno::kIo);
}

}  // namespace
}  // namespace subako::wasi
