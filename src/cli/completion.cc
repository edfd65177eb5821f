// subako completion: a script that makes a shell complete subako's commands and options.
#include "cli/commands.h"

namespace subako::cli {

namespace {

constexpr std::string_view kBash =
    R"bash(# subako completion bash: put this into ~/.local/share/bash-completion/completions/subako
_subako() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "check call tools pack doctor completion --help --version" -- "$word"))
    return
  fi
  case $before in
    --volume|--images|-o|--output) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word")); return ;;
    --skill|--timeout) return ;;
    --sandbox) COMPREPLY=($(compgen -W "auto namespaces landlock none" -- "$word")); return ;;
    --show-images) COMPREPLY=($(compgen -W "auto kitty iterm2 sixel never" -- "$word")); return ;;
  esac
  if [[ $word == -* ]]; then
    case $command in
      check|tools) COMPREPLY=($(compgen -W "--json --no-cache --sandbox --help" -- "$word")) ;;
      doctor) COMPREPLY=($(compgen -W "--json --sandbox --help" -- "$word")) ;;
      call) COMPREPLY=($(compgen -W "--json --volume --data --skill --timeout --images --show-images --no-cache --sandbox --help" -- "$word")) ;;
      pack) COMPREPLY=($(compgen -W "--output --sandbox --help" -- "$word")) ;;
    esac
    return
  fi
  case $command in
    completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")) ;;
    check|call|tools|pack) compopt -o filenames; COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -F _subako subako
)bash";

constexpr std::string_view kZsh = R"zsh(#compdef subako
# subako completion zsh: put this into a folder of $fpath, as _subako
_subako() {
  local -a commands
  commands=(
    'check:would a bundle be accepted, and what does it offer'
    'call:call one tool of a bundle'
    'tools:list the tools of a bundle'
    'pack:pack a folder as a bundle'
    'doctor:what this machine allows'
    'completion:a completion script for a shell'
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2] in
    check|tools) _arguments '--json[one JSON object]' '--no-cache[compile anew]' \
      '--sandbox[what keeps tools in]:how:(auto namespaces landlock none)' '--help' '2:bundle:_files' ;;
    call) _arguments '--json[one JSON object]' '--volume[a folder that is kept as the Volume]:folder:_files -/' \
      '--data[enable /volume/data]' '*--skill[a skill, NAME=DIR]:skill:' '--timeout[such as 5s]:time:' \
      '--images[save pictures in a folder]:folder:_files -/' \
      '--show-images[how pictures are drawn]:how:(auto kitty iterm2 sixel never)' '--no-cache[compile anew]' \
      '--sandbox[what keeps tools in]:how:(auto namespaces landlock none)' '--help' \
      '2:bundle:_files' '3:tool:' '4:arguments:_files' ;;
    pack) _arguments '(-o --output)'{-o,--output}'[the file to write]:file:_files' \
      '--sandbox[what keeps tools in]:how:(auto namespaces landlock none)' '--help' '2:folder:_files -/' ;;
    doctor) _arguments '--json[one JSON object]' '--sandbox[what keeps tools in]:how:(auto namespaces landlock none)' '--help' ;;
    completion) _values shell bash zsh fish ;;
  esac
}
_subako "$@"
)zsh";

constexpr std::string_view kFish =
    R"fish(# subako completion fish: put this into ~/.config/fish/completions/subako.fish
complete -c subako -n __fish_use_subcommand -f -a check -d 'Would a bundle be accepted, and what does it offer'
complete -c subako -n __fish_use_subcommand -f -a call -d 'Call one tool of a bundle'
complete -c subako -n __fish_use_subcommand -f -a tools -d 'List the tools of a bundle'
complete -c subako -n __fish_use_subcommand -f -a pack -d 'Pack a folder as a bundle'
complete -c subako -n __fish_use_subcommand -f -a doctor -d 'What this machine allows'
complete -c subako -n __fish_use_subcommand -f -a completion -d 'A completion script for a shell'
complete -c subako -n '__fish_seen_subcommand_from check call tools doctor' -l json -d 'One JSON object'
complete -c subako -n '__fish_seen_subcommand_from check call tools' -l no-cache -d 'Compile anew'
complete -c subako -n '__fish_seen_subcommand_from check call tools pack doctor' -l sandbox -x -a 'auto namespaces landlock none' -d 'What keeps tools in'
complete -c subako -n '__fish_seen_subcommand_from call' -l volume -r -d 'A folder that is kept as the Volume'
complete -c subako -n '__fish_seen_subcommand_from call' -l data -d 'Enable /volume/data'
complete -c subako -n '__fish_seen_subcommand_from call' -l skill -x -d 'A skill, NAME=DIR'
complete -c subako -n '__fish_seen_subcommand_from call' -l timeout -x -d 'Such as 5s'
complete -c subako -n '__fish_seen_subcommand_from call' -l images -r -d 'Save pictures in a folder'
complete -c subako -n '__fish_seen_subcommand_from call' -l show-images -x -a 'auto kitty iterm2 sixel never' -d 'How pictures are drawn'
complete -c subako -n '__fish_seen_subcommand_from pack' -s o -l output -r -d 'The file to write'
complete -c subako -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'
)fish";

}  // namespace

Exit completion(const std::string& shell) {
  if (shell == "bash") return write_out(kBash, Exit::kAnswered);
  if (shell == "zsh") return write_out(kZsh, Exit::kAnswered);
  if (shell == "fish") return write_out(kFish, Exit::kAnswered);
  return report_usage("there is no completion for \"" + shell + "\", only for bash, zsh and fish",
                      "completion");
}

}  // namespace subako::cli
