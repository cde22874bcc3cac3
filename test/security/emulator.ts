/** What a terminal shows of a text, and what the text did to the terminal. */
import xterm from '@xterm/headless'

export interface Screen {
  /** Rows up to the last that is not empty; what was wrapped is joined. */
  readonly lines: readonly string[]
  /** Everything that a text must not do: titles set, bells rung, questions answered, another buffer, a colour left on. */
  readonly done: readonly string[]
}

const create = () =>
  new xterm.Terminal({ cols: 400, rows: 60, scrollback: 5000, convertEol: true, allowProposedApi: true })

/** The terminal of the text before, to be used again: to make one costs more than most texts do. */
let used: xterm.Terminal | undefined

/** Prints a text on an empty screen that keeps what leaves it, and a mark after it. One text at a time. */
export async function emulate(text: string): Promise<Screen> {
  const terminal = used ?? create()
  terminal.reset()
  const done: string[] = []
  const listeners = [
    terminal.onTitleChange((title) => done.push(`title ${title}`)),
    terminal.onBell(() => done.push('bell')),
    terminal.onData((data) => done.push(`answer ${JSON.stringify(data)}`)),
  ]
  let { active } = terminal.buffer
  let [x, y] = [0, 0]
  // One after the other in one turn: the terminal begins each turn of writing by a timer.
  await new Promise<void>((resolve) => {
    terminal.write(text, () => {
      active = terminal.buffer.active
      ;[x, y] = [active.cursorX, active.cursorY + active.baseY]
    })
    terminal.write('M', resolve)
  })
  if (active.type !== 'normal') done.push('other buffer')
  const cell = active.getLine(y)?.getCell(x)
  if (!cell?.isAttributeDefault() || !cell.isFgDefault() || !cell.isBgDefault()) done.push('colour left on')
  const { modes } = terminal
  if (!modes.wraparoundMode || modes.insertMode || modes.originMode || modes.bracketedPasteMode)
    done.push('mode left on')
  if (modes.mouseTrackingMode !== 'none' || modes.applicationCursorKeysMode) done.push('mode left on')
  const lines: string[] = []
  for (let row = 0; row <= y; row++) {
    const line = active.getLine(row)!
    const shown = line.translateToString(true)
    if (line.isWrapped && lines.length > 0) lines.push(`${lines.pop()}${shown}`)
    else lines.push(shown)
  }
  for (const listener of listeners) listener.dispose()
  // Nothing that a text has done to a terminal comes into the screen of the next.
  const isAsBefore = done.length === 0 && lines.at(-1)!.endsWith('M')
  if (!isAsBefore) terminal.dispose()
  used = isAsBefore ? terminal : undefined
  // The mark is the last thing on its line.
  lines.push(lines.pop()!.replace(/M$/, ''))
  while (lines.at(-1) === '') lines.pop()
  return { lines, done }
}
