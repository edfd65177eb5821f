// The subcommands, each in a file of its own; main.cc fills their options from the command line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.h"
#include "cli/exit_status.h"
#include "cli/sandbox_option.h"
#include "cli/terminal.h"

namespace subako::cli {

struct CheckOptions {
  std::string bundle;
  bool no_cache = false;  // of compiled modules
  SandboxOption sandbox;
  bool json = false;
};
[[nodiscard]] Exit check(const CheckOptions& options, const Terminal& terminal);

struct ToolsOptions {
  std::string bundle;
  bool no_cache = false;
  SandboxOption sandbox;
  bool json = false;
};
[[nodiscard]] Exit tools(const ToolsOptions& options, const Terminal& terminal);

struct CallOptions {
  std::string bundle;
  std::string tool;
  std::string arguments = "{}";       // JSON, "@file" or "-"
  std::optional<std::string> volume;  // a folder that is kept
  bool data = false;
  std::vector<std::string> skills;    // "NAME=DIR"
  std::string timeout;                // empty: the default
  std::optional<std::string> images;  // a folder to save pictures in
  std::string show_images = "auto";   // auto, kitty, iterm2, sixel, never
  bool no_cache = false;
  SandboxOption sandbox;
  bool json = false;
};
[[nodiscard]] Exit call(const CallOptions& options, const Terminal& terminal);

struct PackOptions {
  std::string bundle;
  SandboxOption sandbox;
  std::string out;
};
[[nodiscard]] Exit pack(const PackOptions& options, const Terminal& terminal);

struct DoctorOptions {
  SandboxOption sandbox;
  bool json = false;
};
[[nodiscard]] Exit doctor(const DoctorOptions& options, const Terminal& terminal);

// A script for `shell`: bash, zsh or fish.
[[nodiscard]] Exit completion(const std::string& shell);

// Tells an Error of ours on standard error and says what to exit with.
[[nodiscard]] Exit report(const Error& error);
// As report(), but wrong usage: with a hint to `subako <command> --help`.
[[nodiscard]] Exit report_usage(const std::string& sentence, const std::string& command);

}  // namespace subako::cli
