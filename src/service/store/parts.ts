/**
 * The parts of one connection's transaction that may be undone by themselves, the innermost last. A savepoint copies each page
 * that is changed after it and costs two statements, so one is set as something is first written: nothing has been written
 * between the beginnings of parts that have none by then, and one savepoint stands for all of them.
 */
export class Parts {
  /** Of each open part, which savepoint stands at its beginning: one of those that are set, or none yet. */
  readonly #open: number[] = []
  #set = 0
  readonly #execute: (statement: SavepointStatement) => void

  constructor(execute: (statement: SavepointStatement) => void) {
    this.#execute = execute
  }

  /** The transaction is undone as a whole. */
  reset(): void {
    this.#open.length = 0
    this.#set = 0
  }

  /** A part begins. */
  begin(): void {
    this.#open.push(NONE)
  }

  /** Something is about to be written. */
  writing(): void {
    const open = this.#open
    let at = open.length - 1
    if (at < 0 || open[at] !== NONE) return
    this.#execute('set')
    this.#set++
    for (; at >= 0 && open[at] === NONE; at--) open[at] = this.#set
  }

  /** The innermost part ends, and what it wrote stays. */
  end(): void {
    const savepoint = this.#open.pop()
    if (savepoint !== NONE && savepoint !== this.#open.at(-1)) this.#release()
  }

  /** The innermost part ends, and nothing of it stays. */
  undo(): void {
    const savepoint = this.#open.pop()
    if (savepoint === NONE) return
    this.#execute('undo')
    if (savepoint !== this.#open.at(-1)) this.#release()
  }

  #release(): void {
    this.#execute('release')
    this.#set--
  }
}

const NONE = 0

export type SavepointStatement = 'set' | 'undo' | 'release'
