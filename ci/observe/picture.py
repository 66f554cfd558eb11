"""A terminal's screen as SVG."""

import html
import re
import unicodedata

#: The used ones of the terminal's eight colors, on dark.
COLORS = {31: "#f47067", 32: "#57ab5a", 36: "#56b6c2"}
FOREGROUND, BACKGROUND = "#d0d7de", "#0d1117"
#: Normal spaces would be collapsed.
NO_BREAK = "\u00a0"
WIDTH, HEIGHT, PADDING = 8.4, 17, 10


def runs(line, state):
    """Pieces of a line and their style; the style continues in the next line."""
    for piece in re.split(r"(\x1b\[[\d;]*m)", line):
        if not piece.startswith("\x1b"):
            if piece:
                yield piece, dict(state)
            continue
        # Palette colors are the same eight.
        for code in re.sub(r"38;5;(\d)(?!\d)", r"3\1", piece[2:-1]).split(";"):
            code = int(code or 0)
            if code == 0:
                state.clear()
            elif code in (1, 2, 7):
                state[code] = True
            elif code in (22, 27):
                state.pop(1, None)
                state.pop(2, None) if code == 22 else state.pop(7, None)
            elif 30 <= code <= 37:
                state["color"] = COLORS.get(code, FOREGROUND)
            elif code == 39:
                state.pop("color", None)


def svg_of(screen, columns, lines):
    """A picture of the output of `tmux capture-pane -e -p`."""
    out, state = [], {}
    for row, line in enumerate(screen.split("\n")[:lines]):
        column, pieces = 0, list(runs(line, state))
        if pieces and 7 in pieces[-1][1]:
            # tmux omits spaces at the end, which are visible in a bar.
            pieces.append((" " * (columns - len(re.sub(r"\x1b\[[\d;]*m", "", line))), pieces[-1][1]))
        for text, style in pieces:
            length = sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)
            x, y = PADDING + column * WIDTH, PADDING + row * HEIGHT
            color = style.get("color", FOREGROUND)
            if 7 in style:
                out.append(f'<rect x="{x:.1f}" y="{y}" width="{length * WIDTH:.1f}" height="{HEIGHT}" fill="{color}"/>')
                color = BACKGROUND
            look = ' font-weight="bold"' if 1 in style else ' opacity="0.6"' if 2 in style else ""
            if text.strip():
                # Places every character exactly, for any width of the font.
                shown = html.escape(text).replace(" ", NO_BREAK)
                places = " ".join(f"{x + at * WIDTH:.1f}" for at in range(len(text)))
                out.append(f'<text x="{places}" y="{y + 13}" fill="{color}"{look}>{shown}</text>')
            column += length
    width, height = columns * WIDTH + 2 * PADDING, lines * HEIGHT + 2 * PADDING
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}" '
        'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">\n'
        f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>\n' + "\n".join(out) + "\n</svg>\n"
    )
