"""Pictures of results: what is shown, what is a note, `--images`, and drawing on terminals (spec: R2-R5, L8)."""

import fcntl
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import stat
import struct
import termios
import time

import pytest
from conftest import ROOT, SLOWDOWN, SUBAKO, children_of_subako, guest, wait_until
from picture_maker import (
    bomb_png,
    gif,
    inline,
    link,
    padded_png,
    png,
    png_size,
    saying,
    slow_png,
    text,
)

SHARED = pathlib.Path(os.environ.get("SUBAKO_SHARED_GUESTS") or ROOT.parent / "shared" / "guests")
PAINTER = SHARED / "rust-image"
needs_painter = pytest.mark.skipif(
    not (PAINTER / "module.wasm").is_file(),
    reason=f"NO SHARED GUESTS: {PAINTER} is not there; set SUBAKO_SHARED_GUESTS",
)
LIMIT = 10 * 1024 * 1024
PICTURE_KEYS = {"media_type", "width", "height", "bytes", "source_width", "source_height", "first_frame"}


@pytest.fixture
def volume(tmp_path):
    folder = tmp_path / "volume"
    (folder / "tmp").mkdir(parents=True)
    (folder / "data").mkdir()
    return folder


@pytest.fixture
def say(subako, volume):
    """Runs a call whose result is these blocks."""

    def run(*blocks, options=(), **others):
        where = ["--volume", volume, "--data"]
        return subako(
            "call", *options, *where, guest("pictures"), "say", "-", input=saying(*blocks), **others
        )

    return run


@pytest.fixture
def view(say):
    """The view of it, block by block."""

    def run(*blocks, options=(), **others):
        done = say(*blocks, options=["--json", *options], **others)
        assert done.status == 0 and done.stderr == "", done
        return done.json["view"]

    return run


def shown(block):
    assert block["kind"] == "picture" and block["text"].startswith("[picture: "), block
    picture = block["picture"]
    assert set(picture) - {"file"} == PICTURE_KEYS, block
    return picture


def noted(block, *words):
    assert block["kind"] == "note" and block["text"].startswith("[picture not shown: "), block
    assert "picture" not in block and "\n" not in block["text"], block
    for word in words:
        assert word in block["text"], block


def is_line(block):
    assert block["kind"] == "link" and block["text"].startswith("[link: "), block


# ------------------------------------------------------------------------------------------------ what is shown


def test_pictures_inline_and_linked_keep_their_order(view, volume):  # spec: R2
    (volume / "tmp" / "a.png").write_bytes(png(40, 30))
    (volume / "data" / "b c.gif").write_bytes(gif())
    blocks = view(text("one"), link("tmp/a.png", "a.png"), text("two"), inline(png(7, 5)), link("data/b c.gif"))
    assert [block["kind"] for block in blocks] == ["text", "picture", "text", "picture", "picture"]
    assert blocks[1]["text"].startswith("[picture: a.png (volume:///tmp/a.png), PNG 40 × 30, ")
    first = shown(blocks[1])
    assert (first["media_type"], first["width"], first["height"]) == ("image/png", 40, 30)
    assert (first["source_width"], first["source_height"], first["first_frame"]) == (40, 30, False)
    assert first["bytes"] == len(png(40, 30)) and "file" not in first
    assert (shown(blocks[3])["width"], shown(blocks[3])["height"]) == (7, 5)
    assert shown(blocks[4])["media_type"] == "image/gif"


def test_wide_pictures_are_scaled(view, volume, tmp_path):  # spec: R4
    (volume / "tmp" / "wide.png").write_bytes(png(3000, 1500))
    (volume / "tmp" / "just.png").write_bytes(png(2000, 3))
    out = tmp_path / "out"
    wide, just = view(link("tmp/wide.png"), link("tmp/just.png"), options=["--images", out])
    assert (shown(wide)["width"], shown(wide)["height"]) == (2000, 1000)
    assert (shown(wide)["source_width"], shown(wide)["source_height"]) == (3000, 1500)
    assert "PNG 2000 × 1000 (scaled from 3000 × 1500)" in wide["text"]
    assert png_size((out / "1.png").read_bytes()) == (2000, 1000)
    assert (out / "2.png").read_bytes() == png(2000, 3), "small enough: untouched"


def test_the_type_is_what_the_bytes_say(view, volume, tmp_path):  # spec: R4
    (volume / "tmp" / "gif.png").write_bytes(gif())
    (volume / "tmp" / "plot").write_bytes(png(3, 3))
    (volume / "tmp" / "odd.csv").write_bytes(png(3, 3))
    out = tmp_path / "out"
    given = [link("tmp/gif.png"), link("tmp/plot"), link("tmp/odd.csv"), inline(gif(), "image/jpeg")]
    blocks = view(*given, options=["--images", out])
    assert [shown(block)["media_type"] for block in blocks] == ["image/gif", "image/png", "image/png", "image/gif"]
    assert sorted(path.name for path in out.iterdir()) == ["1.gif", "2.png", "3.png", "4.gif"]


def test_inline_base64_may_be_sloppy(view):  # spec: R2
    block = inline(png(7, 5))
    data = block["data"].rstrip("=")
    sloppy = block | {"data": "\n".join(data[i : i + 60] for i in range(0, len(data), 60)) + "\r\n"}
    assert shown(view(sloppy)[0])["width"] == 7


def test_links_that_stay_within_their_tree_are_followed(view, volume):  # spec: R3
    (volume / "tmp" / "deep").mkdir()
    (volume / "tmp" / "a.png").write_bytes(png(3, 3))
    (volume / "tmp" / "deep" / "a.png").symlink_to("../a.png")
    assert shown(view(link("tmp/deep/a.png"))[0])["width"] == 3
    odd = link("tmp/a.png") | {"uri": "volume:///tmp//deep/./a.png"}
    assert shown(view(odd)[0])["width"] == 3


# ------------------------------------------------------------------------------------------------ what is not


def test_what_is_no_picture_is_a_note_or_a_line(view, volume, tmp_path):  # spec: R2, R3
    tmp = volume / "tmp"
    (tmp / "text.png").write_text("not a picture")
    (tmp / "empty.png").touch()
    (tmp / "cut.png").write_bytes(png(200, 200)[:-60])
    (tmp / "folder.png").mkdir()
    os.mkfifo(tmp / "fifo.png")
    (tmp / "report.csv").write_text("a,b\n")
    (volume / "data" / "secret.png").write_bytes(png(3, 3))
    (tmp_path / "outside.png").write_bytes(png(3, 3))
    (tmp / "over.png").symlink_to("../data/secret.png")
    (tmp / "out.png").symlink_to("../../outside.png")
    (tmp / "absolute.png").symlink_to(tmp_path / "outside.png")
    (tmp / "up").symlink_to("..")
    (tmp / "round.png").symlink_to("round.png")
    began = time.monotonic()
    blocks = view(
        link("tmp/missing.png"),
        link("tmp/text.png"),
        link("tmp/empty.png"),
        link("tmp/cut.png"),
        link("tmp/folder.png"),
        link("tmp/fifo.png"),
        link("tmp/over.png"),
        link("tmp/out.png"),
        link("tmp/absolute.png"),
        link("tmp/up/data/secret.png"),
        link("tmp/round.png"),
        link("tmp/report.csv", mime="image/png"),
        {"type": "image", "mimeType": "image/png", "data": "not base64 !!!"},
        inline(b"<svg/>", "image/svg+xml"),
        link("tmp/report.csv"),
        link("tmp/folder.png") | {"uri": "volume:///tmp"},
        link("x") | {"uri": "volume:///tmp/../data/secret.png"},
        link("x") | {"uri": "volume:///tmp/%2e%2e/data/secret.png"},
        link("x") | {"uri": "file:///etc/passwd"},
        link("x") | {"uri": "volume:///tmp/a.png?x"},
    )
    words = [
        "no such file",
        "no PNG, JPEG, GIF or WebP",
        "empty",
        "",
        "folder",
        "no regular file",
        "leads out of /volume/tmp",
        "leads out of /volume/tmp",
        "leads out of /volume/tmp",
        "leads out of /volume/tmp",
        "links",
        "no PNG, JPEG, GIF or WebP",
        "no base64",
        "no PNG, JPEG, GIF or WebP",
    ]
    for block, word in zip(blocks, words):
        noted(block, word)
    for block in blocks[len(words) :]:
        is_line(block)
    assert time.monotonic() - began < 10 * SLOWDOWN


def test_without_data_nothing_of_it_is_shown(subako, volume):  # spec: R3
    (volume / "data" / "a.png").write_bytes(png(3, 3))
    run = subako("call", "--json", "--volume", volume, guest("pictures"), "say", saying(link("data/a.png")))
    is_line(run.json["view"][0])


@pytest.mark.parametrize("count", [20, 21])
def test_the_21st_is_a_note(view, volume, count):  # spec: L8, R4
    (volume / "tmp" / "a.png").write_bytes(png(3, 3))
    blocks = view(*[link("tmp/a.png")] * count)
    for block in blocks[:20]:
        shown(block)
    for block in blocks[20:]:
        noted(block, "only the first 20 pictures")
    assert len(blocks) == count


def test_10_mib_are_shown_and_one_byte_more_is_not(view, volume):  # spec: L8, R4
    (volume / "tmp" / "whole.png").write_bytes(padded_png(LIMIT))
    (volume / "tmp" / "more.png").write_bytes(padded_png(LIMIT + 1))
    whole, more = view(link("tmp/whole.png"), link("tmp/more.png"))
    assert shown(whole)["bytes"] == LIMIT
    noted(more, "10,485,761 bytes", "10 MiB")


def test_a_picture_that_is_too_large_to_decode_is_a_note(view, volume):  # spec: R5
    (volume / "tmp" / "bomb.png").write_bytes(bomb_png())
    (volume / "tmp" / "good.png").write_bytes(png(3, 3))
    began = time.monotonic()
    bomb, good = view(link("tmp/bomb.png"), link("tmp/good.png"))
    noted(bomb, "30,000 × 30,000", "100,000,000 pixels")
    shown(good)
    assert time.monotonic() - began < 10 * SLOWDOWN


def test_hostile_names_move_no_cursor(say, view, volume):  # spec: R2
    name = "a\x1b[2J\nb\u202e.png"
    (volume / "tmp" / name).write_bytes(png(3, 3))
    block = view(link("tmp/" + name, name))[0]
    shown(block)
    assert not set(block["text"]) & set("\x1b\n\u202e"), block
    assert "\x1b" not in say(link("tmp/" + name, name)).stdout


def test_countless_links_are_bounded(view, volume):  # spec: R5
    (volume / "tmp" / "a.png").write_bytes(png(3, 3))
    blocks = view(*[link("tmp/a.png")] * 5000, link("tmp/none"))
    assert sum(block["kind"] == "picture" for block in blocks) == 20


# ------------------------------------------------------------------------------------------------ --images


def test_images_are_saved_where_people_see_them(say, volume, tmp_path):
    (volume / "tmp" / "a.png").write_bytes(png(40, 30))
    out = tmp_path / "out"
    run = say(text("look:"), link("tmp/a.png", "a.png"), inline(gif()), options=["--images", out])
    assert run.status == 0, run
    assert run.stdout.splitlines() == [
        "look:",
        f"[picture: a.png (volume:///tmp/a.png), PNG 40 × 30, {len(png(40, 30))} B] saved as {out}/1.png",
        f"[picture: GIF 2 × 2, {len(gif())} B] saved as {out}/2.gif",
    ]
    assert (out / "1.png").read_bytes() == png(40, 30) and (out / "2.gif").read_bytes() == gif()
    assert sorted(path.name for path in out.iterdir()) == ["1.png", "2.gif"]
    assert stat.S_IMODE((out / "1.png").stat().st_mode) & 0o600 == 0o600


def test_saving_replaces_files_and_follows_no_link(view, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    kept = tmp_path / "kept"
    kept.write_text("mine")
    (out / "1.png").symlink_to(kept)
    (out / "2.png").write_text("old")
    first, second = view(inline(png(3, 3)), inline(png(4, 4)), options=["--images", out])
    assert first["picture"]["file"] == f"{out}/1.png" and second["picture"]["file"] == f"{out}/2.png"
    assert kept.read_text() == "mine" and not (out / "1.png").is_symlink()
    assert (out / "1.png").read_bytes() == png(3, 3) and (out / "2.png").read_bytes() == png(4, 4)


def test_a_guest_that_swaps_the_folder_by_a_link_leads_nowhere(subako, volume, tmp_path):  # spec: R4
    out = volume / "tmp" / "out"
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "1.png").write_text("mine")
    arguments = {"content": [inline(png(3, 3))], "folder": "/volume/tmp/out", "target": "../../outside"}
    where = ["--volume", volume, "--images", out]
    run = subako("call", *where, guest("pictures"), "swap_and_say", json.dumps(arguments))
    assert run.status == 0 and out.is_symlink() and out.resolve() == outside, run
    assert [path.name for path in outside.iterdir()] == ["1.png"]
    assert (outside / "1.png").read_text() == "mine"
    assert (volume / "tmp" / "out.aside" / "1.png").read_bytes() == png(3, 3), "the folder that was opened"


def test_a_folder_that_cannot_be_made_is_told_before_the_call(say, tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "no" / "where", tmp_path / "file", ""):
        run = say(text("called"), options=["--images", folder])
        assert run.status in (3, 4) and "folder" in run.stderr and "called" not in run.stdout, run
        assert len(run.stderr.splitlines()) == 1, run


def test_a_picture_that_cannot_be_written_is_told_and_the_answer_is_there(say, tmp_path):
    out = tmp_path / "out"
    (out / "1.png").mkdir(parents=True)
    run = say(inline(png(3, 3)), options=["--images", out])
    assert run.status in (3, 4) and "1.png" in run.stderr and "[picture: PNG 3 × 3" in run.stdout, run
    assert [path.name for path in out.iterdir()] == ["1.png"], "what was written aside is gone"


def test_no_picture_no_file(say, tmp_path):
    out = tmp_path / "out"
    assert say(text("x"), options=["--images", out]).status == 0
    assert list(out.iterdir()) == []


# ------------------------------------------------------------------------------------------------ cancelling


def decoder_of(process):
    """A builder that has worked for a while, once the guest is done."""
    if os.geteuid() != 0:
        pytest.skip("which descriptors a child has is told to root alone: it keeps its memory from others")
    for pid in children_of_subako(process.pid):
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
        except OSError:
            continue
        if command[1:2] == [b"builder"] and any("subako-picture" in one for one in links) and int(fields[11]) > 0:
            return pid
    return None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_decoding_ends_at_once(start, volume, tmp_path, number):  # spec: C12
    (volume / "tmp" / "slow.png").write_bytes(slow_png())
    took = []
    for _ in range(3):  # the best of three: the machine may be busy with others
        out = tmp_path / "out"
        process = start(
            "call",
            "--volume",
            volume,
            "--images",
            out,
            guest("pictures"),
            "say",
            saying(*[link("tmp/slow.png")] * 6),
        )
        wait_until(lambda: decoder_of(process), 20, "the decoding")
        began = time.monotonic()
        process.send_signal(number)
        process.wait(timeout=10 * SLOWDOWN)
        took.append(time.monotonic() - began)
        assert process.returncode == 130, process.stderr.read()
        assert not children_of_subako() and list(out.iterdir()) == []
        if took[-1] < 0.1:
            return
    assert min(took) < 0.1 * SLOWDOWN, took


def test_a_decoder_that_is_killed_costs_its_picture_alone(start, volume):  # spec: R5
    (volume / "tmp" / "slow.png").write_bytes(slow_png())
    blocks = [link("tmp/slow.png"), inline(png(3, 3)), inline(png(4, 4))]
    process = start("call", "--json", "--volume", volume, guest("pictures"), "say", saying(*blocks))
    os.kill(wait_until(lambda: decoder_of(process), 20, "the decoding"), signal.SIGKILL)
    stdout, stderr = process.communicate(timeout=30 * SLOWDOWN)
    view = json.loads(stdout)["view"]
    noted(view[0], "killed")
    shown(view[1])
    shown(view[2])


# ------------------------------------------------------------------------------------------------ terminals


class Terminal:
    """subako on a pseudoterminal, which answers as `answers` says: {question: answer}."""

    def __init__(self, arguments, environment, answers=(), pixels=640, answers_after=0.0, under=()):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            command = [*under, str(SUBAKO), *map(str, arguments)]
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, pixels, 384))
        self.answers = dict(answers)
        self.answers_after = answers_after
        self.output = b""

    def read(self, seconds=0.05):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return True
        try:
            piece = os.read(self.master, 65536)
        except OSError:
            return False
        self.output += piece
        for question, answer in self.answers.items():
            if question in piece:
                time.sleep(self.answers_after)
                os.write(self.master, answer)
        return bool(piece)

    def read_until(self, words, seconds=20):
        deadline = time.monotonic() + seconds * SLOWDOWN
        while words not in self.output:
            assert time.monotonic() < deadline and self.read(), self.output[-2000:]

    def finish(self, seconds=30):
        deadline = time.monotonic() + seconds * SLOWDOWN
        while self.read():
            assert time.monotonic() < deadline, self.output[-2000:]
        _, status = os.waitpid(self.pid, 0)
        os.close(self.master)
        return os.waitstatus_to_exitcode(status)


@pytest.fixture
def on_terminal(environment, volume):
    def run(*blocks, term, options=(), answers=(), pixels=640, answers_after=0.0, **variables):
        terminal = Terminal(
            ["call", "--volume", volume, *options, guest("pictures"), "say", saying(*blocks)],
            environment | {"TERM": term} | variables,
            answers,
            pixels,
            answers_after,
        )
        status = terminal.finish()
        assert status == 0, terminal.output
        return terminal.output

    return run


def test_kitty_draws_png(on_terminal):
    picture = inline(png(30, 20))
    out = on_terminal(text("before"), picture, text("after"), term="xterm-kitty")
    assert b"\x1b_Ga=T,f=100,q=2,m=0;" + picture["data"].encode() + b"\x1b\\" in out, out
    assert out.index(b"before") < out.index(b"[picture: PNG") < out.index(b"\x1b_G") < out.index(b"after")
    assert b"\x1b[c" not in out, "a terminal that is known isn't asked"


def test_kitty_gets_png_of_whatever_it_is(on_terminal):
    out = on_terminal(inline(gif(), "image/gif"), term="xterm-kitty")
    assert b"GIF 2 \xc3\x97 2" in out and b"\x1b_Ga=T,f=100,q=2,m=0;iVBORw0KGgo" in out, out


def test_iterm2_draws_all(on_terminal):
    picture = inline(gif(), "image/gif")
    out = on_terminal(picture, term="xterm-256color", TERM_PROGRAM="iTerm.app")
    assert b"\x1b]1337;File=inline=1;size=%d;" % len(gif()) in out and picture["data"].encode() + b"\x07" in out, out


def test_sixel_is_asked_for(on_terminal):
    for _ in range(3):  # the answer must come within 1 s, and the machine may be busy with others
        out = on_terminal(inline(png(1280, 20)), term="xterm-256color", answers={b"\x1b[c": b"\x1b[?62;4;22c"})
        if b"\x1bP" in out:
            break
    assert out.count(b"\x1b[c") == 1, out
    begin, end = out.index(b"\x1bP"), out.index(b"\x1b\\")
    sixel = out[begin + 2 : end]
    assert all(0x20 < byte < 0x7F or byte in b"\r\n" for byte in sixel), sixel[:200]
    assert b'"1;1;640;10' in sixel, "as wide as the terminal"


def test_an_answer_may_take_its_time(on_terminal):
    """As over a slow connection: one that came too late would be read by the shell."""
    for _ in range(3):
        answers = {b"\x1b[c": b"\x1b[?62;4;22c"}
        out = on_terminal(inline(png(9, 9)), term="xterm-256color", answers=answers, answers_after=0.5)
        if b"\x1bP" in out:
            return
    assert b"\x1bP" in out, out


@pytest.mark.parametrize("answers", [{}, {b"\x1b[c": b"\x1b[?62;22c"}])
def test_a_terminal_without_pictures_gets_the_line(on_terminal, answers):
    began = time.monotonic()
    out = on_terminal(inline(png(3, 3)), term="xterm-256color", answers=answers)
    assert out.count(b"\x1b[c") == 1 and b"\x1bP" not in out and b"\x1b_G" not in out, out
    assert b"[picture: PNG 3" in out and time.monotonic() - began < 5 * SLOWDOWN


@pytest.mark.parametrize(
    "term, variables",
    [
        ("dumb", {}),
        ("tmux-256color", {}),
        ("screen", {"KITTY_WINDOW_ID": "1"}),
        ("xterm-kitty", {"TMUX": "/tmp/tmux-0/default,1,0"}),
    ],
)
def test_auto_is_never_where_it_is_not_known_to_work(on_terminal, term, variables):
    out = on_terminal(inline(png(3, 3)), term=term, **variables)
    assert b"\x1b_G" not in out and b"\x1b[c" not in out and b"[picture: PNG 3" in out, out


def test_no_picture_no_question(on_terminal):
    out = on_terminal(text("x"), term="xterm-256color", answers={b"\x1b[c": b"\x1b[?62;4;22c"})
    assert b"\x1b[c" not in out, out


def test_people_can_say_how(on_terminal, say):
    assert b"\x1b_G" in on_terminal(inline(png(3, 3)), term="tmux-256color", options=["--show-images", "kitty"])
    assert b"\x1b_G" not in on_terminal(inline(png(3, 3)), term="xterm-kitty", options=["--show-images", "never"])
    assert "\x1b" not in say(inline(png(3, 3)), env={"TERM": "xterm-kitty"}).stdout, "no terminal"
    assert "\x1b]1337;" in say(inline(png(3, 3)), options=["--show-images", "iterm2"]).stdout, "asked for"
    assert "\x1b" not in say(inline(png(3, 3)), options=["--json", "--show-images", "kitty"]).stdout
    wrong = say(inline(png(3, 3)), options=["--show-images", "ascii"])
    assert wrong.status == 3 and "kitty" in wrong.stderr, wrong


def modes(fd):
    return termios.tcgetattr(fd)[3]


@pytest.mark.parametrize(
    "key, status",
    [
        (b"", b"0"),
        (b"\x03", b"130"),  # Ctrl-C
        pytest.param(b"\x1c", b"131", marks=pytest.mark.leaves_scratch),  # Ctrl-\
    ],
)
def test_the_terminal_is_as_it_was(environment, volume, key, status):
    """Also where it doesn't answer and a signal comes while it is asked."""
    terminal = Terminal(
        ["call", "--volume", volume, guest("pictures"), "say", saying(inline(png(3, 3)))],
        environment | {"TERM": "xterm-256color"},
        # The end of a session's leader would put back the settings, too.
        under=["sh", "-c", 'ulimit -c 0; trap : INT QUIT; "$@"; echo "ended: $?"; read line', "sh"],
    )
    before = modes(terminal.master)
    assert before & termios.ICANON and before & termios.ECHO
    terminal.read_until(b"\x1b[c")
    asked = modes(terminal.master)
    assert not asked & termios.ICANON and not asked & termios.ECHO
    os.write(terminal.master, key)
    terminal.read_until(b"ended: ")
    assert modes(terminal.master) == before
    os.write(terminal.master, b"\n")
    assert terminal.finish() == 0 and b"ended: " + status in terminal.output, terminal.output


def test_ctrl_c_while_a_slow_terminal_is_drawn_on(environment, volume):  # spec: C12
    noise = os.urandom(2000)
    (volume / "tmp" / "a.png").write_bytes(png(2000, 300, row=noise, level=0))
    terminal = Terminal(
        ["call", "--volume", volume, guest("pictures"), "say", saying(*[link("tmp/a.png")] * 10)],
        environment | {"TERM": "xterm-kitty"},
    )
    terminal.read_until(b"\x1b_G")
    time.sleep(0.2)  # nobody reads: it waits for the terminal
    began = time.monotonic()
    os.kill(terminal.pid, signal.SIGINT)
    assert terminal.finish() == 130, terminal.output[-200:]
    assert time.monotonic() - began < 2 * SLOWDOWN
    assert len(terminal.output) < 2_000_000
    last = terminal.output[terminal.output.rindex(b"\x1b_G") :]
    # Cut, and closed: the words are no part of it.
    assert last.count(b"\x1b\\") == 1 and last.endswith(b"\x1b\\subako: cancelled\r\n"), last[-200:]


# ------------------------------------------------------------------------------------------------ guests of others


@needs_painter
def test_pictures_of_a_painter(subako, volume, tmp_path):  # spec: R2-R4
    out = tmp_path / "out"

    def paint(tool, arguments):
        shutil.rmtree(out, ignore_errors=True)
        run = subako(
            "call", "--json", "--data", "--volume", volume, "--images", out, PAINTER, tool, json.dumps(arguments)
        )
        assert run.status == 0, run
        return [block for block in run.json["view"] if block["kind"] != "text"]

    wide = {"width": 3000, "height": 1500, "format": "jpeg", "path": "/volume/tmp/wide.jpg"}
    tall = {"width": 300, "height": 2600, "format": "webp", "path": "/volume/tmp/図 a+b.webp"}
    thin = {"width": 2100, "height": 10, "format": "gif", "path": "/volume/data/g.gif"}
    rows = [
        ({"width": 64, "height": 48}, "image/png", (64, 48), (64, 48)),
        (wide, "image/jpeg", (2000, 1000), (3000, 1500)),
        (tall, "image/webp", (231, 2000), (300, 2600)),
        (thin, "image/gif", (2000, 10), (2100, 10)),
    ]
    for arguments, media_type, size, source in rows:
        (block,) = paint("paint", arguments)
        picture = shown(block)
        assert picture["media_type"] == media_type, block
        assert (picture["width"], picture["height"]) == size, block
        assert (picture["source_width"], picture["source_height"]) == source, block
        assert pathlib.Path(picture["file"]).stat().st_size == picture["bytes"], block
        if size == source:
            assert pathlib.Path(picture["file"]).read_bytes() == (volume / "tmp" / "paint.png").read_bytes()
    (block,) = paint("paint_inline", {"width": 100, "height": 80})
    assert (shown(block)["width"], shown(block)["height"]) == (100, 80)
    for count in (20, 21):
        blocks = paint("paint_many", {"count": count})
        assert len(blocks) == count
        for block in blocks[:20]:
            assert "図" in block["text"] and shown(block)
        for block in blocks[20:]:
            noted(block, "only the first 20")
    blocks = paint("odd_links", {})
    assert len(blocks) == 15
    sound = [index for index, block in enumerate(blocks) if block["kind"] == "picture"]
    assert sound == [4, 9], blocks
    assert all(shown(blocks[index])["media_type"] == "image/jpeg" for index in sound)
    for index, block in enumerate(blocks):
        if index not in sound:
            assert block["kind"] in ("link", "note"), block
