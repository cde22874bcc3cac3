import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { breathe, computing } from '../../src/analysis/computing.ts'
import { toTerminal } from '../../src/cli/screen.ts'
import { showingComputing, showReading } from '../../src/cli/views/reading.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** What is said while this many answers come, one each 100 ms. */
function said({ live, answers }: { readonly live: boolean; readonly answers: number }): readonly string[] {
  const texts: string[] = []
  let count = 0
  const stop = showReading({ live, say: (text) => void texts.push(text) }, () => count)
  for (; count < answers; count++) vi.advanceTimersByTime(100)
  stop()
  vi.advanceTimersByTime(60_000)
  return texts
}

describe('a long read', () => {
  test('a log gets a counter each ten seconds, and no line an object', () => {
    expect(said({ live: false, answers: 1_000 })).toHaveLength(10)
    expect(said({ live: false, answers: 250 })).toEqual([
      'Reading: 99 requests so far\n',
      'Reading: 199 requests so far\n',
    ])
  })

  test('a terminal gets one line that is written over each second, and erased at the end', () => {
    const texts = said({ live: true, answers: 25 })
    const over = '\u001b[G\u001b[K'
    expect(texts.map(toTerminal)).toEqual([
      `${over}Reading: 9 requests so far`,
      `${over}Reading: 19 requests so far`,
      over,
    ])
  })

  test('a short one is not spoken of', () => {
    expect([said({ live: true, answers: 5 }), said({ live: false, answers: 90 })]).toEqual([[], []])
  })
})

describe('a long computation', () => {
  /** What is said while an analysis computes for so long, with a breath each 100 ms. */
  const saidIn = (seconds: number, live: boolean): readonly string[] => {
    const texts: string[] = []
    showingComputing({ live, say: (text) => void texts.push(text) }, () =>
      computing('who could undo it', () => {
        for (let ms = 0; ms < seconds * 1_000; ms += 100) {
          vi.advanceTimersByTime(100)
          breathe()
        }
      }),
    )
    breathe()
    return texts.map(toTerminal)
  }

  test('a log gets a line each ten seconds, though no timer fires', () => {
    expect(saidIn(35, false)).toEqual([10, 20, 30].map((seconds) => `Computing who could undo it, for ${seconds} s\n`))
    expect(saidIn(9, false)).toEqual([])
  })

  test('a terminal gets one line that is written over each second, and erased at the end', () => {
    const over = '\u001b[G\u001b[K'
    expect(saidIn(3.5, true)).toEqual([
      ...[1, 2, 3].map((seconds) => `${over}Computing who could undo it, for ${seconds} s`),
      over,
    ])
  })
})
