// subako: the command line. Reads the arguments, calls one command, and exits as exit_status.h says.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <functional>

#include "child/own_mounts.h"
#include "cli/commands.h"
#include "cli/human.h"

namespace {

using subako::cli::Exit;
namespace cli = subako::cli;

constexpr const char* kBundle = "A folder, or a .tar.gz, .tgz, .tar or .zip file";
constexpr const char* kJson = "Print one JSON object";
constexpr const char* kSandbox = "What keeps tools in: auto (the default, or $SUBAKO_SANDBOX), namespaces, landlock, or none";
constexpr const char* kNoCache = "Compile the module, even where it is kept from another time";

class CommandLine {
 public:
  CommandLine() {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", "subako " SUBAKO_VERSION);
    app_.footer("\n" + std::string(cli::kExitTable));
    app_.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
    add_check();
    add_call();
    add_tools();
    add_pack();
    add_doctor();
    add_completion();
  }

  Exit run(int argc, char** argv) {
    if (argc == 1) return cli::write_out(app_.help(), Exit::kRefused);
    if (const std::string wrong = unknown_command(argv[1]); !wrong.empty())
      return cli::report_usage(wrong, "");
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      return cli::write_out(&subject() == &app_ ? app_.help() : subject().help("subako"), Exit::kAnswered);
    } catch (const CLI::CallForVersion&) {
      return cli::write_out("subako " SUBAKO_VERSION "\n", Exit::kAnswered);
    } catch (const CLI::ParseError& error) {
      return cli::report_usage(sentence_of(error), &subject() == &app_ ? "" : subject().get_name());
    }
    return command_(cli::look_at_terminal());
  }

 private:
  CLI::App& subject() {
    const auto chosen = app_.get_subcommands();
    return chosen.empty() ? app_ : *chosen.front();
  }

  static std::string sentence_of(const CLI::ParseError& error) {
    std::string text = error.what();
    if (text.starts_with("The ") || text.starts_with("A ")) text[0] = static_cast<char>(text[0] - 'A' + 'a');
    for (char& c : text) c = c == '\n' ? ' ' : c;
    return text;
  }

  // What is wrong with the first word; empty where nothing is.
  std::string unknown_command(const std::string& word) {
    if (word == "--help" || word == "-h" || word == "--version") return "";
    if (word.starts_with('-')) return "there is no option " + word + " before a command";
    std::vector<std::string> names;
    for (const CLI::App* command : app_.get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(command->get_name());
    const std::vector<std::string_view> views(names.begin(), names.end());
    if (std::find(names.begin(), names.end(), word) != names.end()) return "";
    const std::string_view near = cli::nearest(word, views);
    return "there is no command \"" + word + "\"" +
           (near.empty() ? "" : " (did you mean `subako " + std::string(near) + "`?)");
  }

  CLI::App& add(const char* name, const char* about, std::function<Exit(const cli::Terminal&)> command) {
    CLI::App& added = *app_.add_subcommand(name, about);
    added.set_version_flag("--version", "subako " SUBAKO_VERSION);
    added.footer("\n" + std::string(cli::kExitTable));
    added.callback([this, command = std::move(command)] { command_ = command; });
    return added;
  }

  static void add_sandbox(CLI::App& command, cli::SandboxOption& option) {
    command.add_option("--sandbox", option, kSandbox)->type_name("HOW");
  }

  void add_check() {
    CLI::App& command = add("check", "Would a bundle be accepted, and what does it offer?",
                            [this](const cli::Terminal& terminal) { return cli::check(check_, terminal); });
    command.add_option("BUNDLE", check_.bundle, kBundle)->required();
    command.add_flag("--no-cache", check_.no_cache, kNoCache);
    add_sandbox(command, check_.sandbox);
    command.add_flag("--json", check_.json, kJson);
  }

  void add_call() {
    CLI::App& command = add("call", "Call one tool of a bundle, and print what the model would read",
                            [this](const cli::Terminal& terminal) { return cli::call(call_, terminal); });
    command.add_option("BUNDLE", call_.bundle, kBundle)->required();
    command.add_option("TOOL", call_.tool, "The tool's name, as `subako tools` lists it")->required();
    command.add_option("ARGUMENTS", call_.arguments,
                       "A JSON object, @FILE, or - for standard input; {} where left out");
    command
        .add_option("--volume", call_.volume,
                    "Keep /volume in this folder (made where missing); else it is temporary")
        ->type_name("DIR");
    command.add_flag("--data", call_.data, "Enable /volume/data");
    command.add_option("--skill", call_.skills, "Mount a folder as /skills/NAME (repeatable)")
        ->type_name("NAME=DIR")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->expected(1)
        ->allow_extra_args(false);  // one NAME=DIR each: what follows is the bundle
    command
        .add_option("--timeout", call_.timeout,
                    "Time to answer: 500ms, 5s or seconds; 60s by default, 300s at most")
        ->type_name("TIME");
    command
        .add_option(
            "--images", call_.images,
            "Save the pictures that people see in this folder (made where missing), as 1.png, 2.jpg, ...; "
            "files of an earlier call stay, but for those of the same name")
        ->type_name("DIR");
    command
        .add_option("--show-images", call_.show_images,
                    "How the terminal is sent pictures: auto (the default), kitty, iterm2, sixel or never")
        ->type_name("HOW");
    command.add_flag("--no-cache", call_.no_cache, kNoCache);
    add_sandbox(command, call_.sandbox);
    command.add_flag("--json", call_.json, kJson);
  }

  void add_tools() {
    CLI::App& command = add("tools", "List the tools of a bundle",
                            [this](const cli::Terminal& terminal) { return cli::tools(tools_, terminal); });
    command.add_option("BUNDLE", tools_.bundle, kBundle)->required();
    command.add_flag("--no-cache", tools_.no_cache, kNoCache);
    add_sandbox(command, tools_.sandbox);
    command.add_flag("--json", tools_.json, kJson);
  }

  void add_pack() {
    CLI::App& command = add("pack", "Pack a bundle as a .tar.gz: the same files always give the same bytes",
                            [this](const cli::Terminal& terminal) { return cli::pack(pack_, terminal); });
    command.add_option("DIR", pack_.bundle, "The folder to pack (or another bundle)")->required();
    command
        .add_option("-o,--output", pack_.out,
                    "The file to write; one that is there is replaced once the new one is complete")
        ->type_name("FILE.tar.gz")
        ->required();
    add_sandbox(command, pack_.sandbox);
  }

  void add_doctor() {
    CLI::App& command = add("doctor", "What this machine allows, and what follows from it",
                            [this](const cli::Terminal& terminal) { return cli::doctor(doctor_, terminal); });
    add_sandbox(command, doctor_.sandbox);
    command.add_flag("--json", doctor_.json, kJson);
  }

  void add_completion() {
    CLI::App& command = add("completion", "Print a completion script for a shell",
                            [this](const cli::Terminal&) { return cli::completion(shell_); });
    command.add_option("SHELL", shell_, "bash, zsh or fish")->required();
  }

  CLI::App app_{"Runs MCP tools compiled to WebAssembly, each call in a fresh sandbox.", "subako"};
  std::function<Exit(const cli::Terminal&)> command_;
  cli::CheckOptions check_;
  cli::CallOptions call_;
  cli::ToolsOptions tools_;
  cli::PackOptions pack_;
  cli::DoctorOptions doctor_;
  std::string shell_;
};

}  // namespace

int main(int argc, char** argv) {
  // Before anything is opened. Where it can't, tools are kept in by less, and Sandbox::find() says why.
  (void)subako::child::take_own_mounts();
  cli::open_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return static_cast<int>(CommandLine().run(argc, argv));
  } catch (const std::exception& error) {
    cli::say_error(std::string("a bug of subako's own: ") + error.what());
    return static_cast<int>(Exit::kFault);
  }
}
