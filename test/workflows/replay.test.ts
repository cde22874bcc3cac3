/**
 * Recorded histories replay against today's workflows, a workflow that went wrong is refused, and no history shows a
 * secret. Those of before payloads were sealed stay as they are.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundleWorkflows } from '../../src/worker/index.ts'
import { patches } from '../../workflows/patches.ts'
import { testBundle } from '../worker-runtime.ts'
import { historyFromText } from './history-json.ts'
import { createClearReplayer, createReplayer, type Replayer, readSealed, sealedHistories } from './recorded.ts'
import { PLANTED_SECRET } from './small-activities.ts'

const folder = join(import.meta.dirname, 'histories')
const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
const root = join(import.meta.dirname, '../..')
const replayers: Replayer[] = []

function keep(replayer: Replayer): Replayer {
  replayers.push(replayer)
  return replayer
}

afterAll(async () => {
  for (const replayer of replayers) await replayer.close()
})

describe('replay: recorded histories', () => {
  let replayer: Replayer
  beforeAll(async () => {
    replayer = keep(createClearReplayer(await testBundle()))
  })

  test('every path worth keeping is there', () => {
    expect(names).toEqual(expect.arrayContaining(['approved.json', 'rejected.json', 'cancelled.json', 'retried.json']))
  })

  test.each(names)('%s replays', async (name) => {
    await replayer.replay(historyFromText(read(name)), name)
  })

  test('a workflow with one more step in it is refused', async () => {
    // Inside the repository, so that its imports resolve.
    const mutant = mkdtempSync(join(import.meta.dirname, '.mutant-'))
    try {
      for (const name of readdirSync(join(root, 'workflows')).filter((file) => file.endsWith('.ts'))) {
        const text = readFileSync(join(root, 'workflows', name), 'utf8')
        writeFileSync(join(mutant, name), text.replaceAll("'../src/", "'../../../src/"))
      }
      const file = join(mutant, 'apply.ts')
      const text = readFileSync(file, 'utf8')
      const changed = text.replace(
        '    await walk(run)\n',
        '    await condition(() => false, 1_000)\n    await walk(run)\n',
      )
      expect(changed).not.toBe(text)
      writeFileSync(file, changed)
      const mutated = keep(createClearReplayer(await bundleWorkflows(join(mutant, 'index.ts'))))
      const replay = mutated.replay(historyFromText(read('approved.json')), 'approved')
      await expect(replay).rejects.toThrow(/nondeterminism|determinism/i)
    } finally {
      rmSync(mutant, { recursive: true, force: true })
    }
  })

  test('the table of patches has a date and a reason for each', () => {
    for (const { date, why } of Object.values(patches)) {
      expect(date).toMatch(/^\d{4}-\d\d-\d\d$/)
      expect(why).not.toBe('')
    }
  })
})

describe('replay: sealed histories', () => {
  let replayer: Replayer
  beforeAll(async () => {
    replayer = keep(createReplayer(await testBundle()))
  })

  test('every path worth keeping is there', () => {
    const applies = [
      'approved',
      'rejected',
      'cancelled',
      'retried',
      'reconcile',
      'reconcile-repair',
      'reconcile-repair-inside',
    ]
    const shown = ['shown-send', 'shown-batch', 'shown-batch-row', 'shown-rotate']
    const wanted = [...applies, ...shown, 'sent', 'send-rejected', 'batch', 'batch-stopped']
    expect(sealedHistories()).toEqual(expect.arrayContaining(wanted.map((name) => `${name}.json`)))
  })

  test.each(sealedHistories())('%s replays for the workflow that it is of, and tells nothing', async (name) => {
    const { history, workflowId } = readSealed(name)
    await replayer.replay(history, workflowId)
    const text = decoded(JSON.parse(read(join('sealed', name))))
    expect(text).not.toMatch(/planDigest|userTagName|"reference|sha256:/)
  })

  test('one that is handed in for another workflow is refused', async () => {
    const { history } = readSealed('approved.json')
    const replay = replayer.replay(history, 'apply/another')
    // Nothing of it is opened, so its workflow task fails.
    await expect(replay).rejects.toThrow('workflow task failure')
  })
})

test('replay: no hook of Temporal stays in the process that test files share', async () => {
  const hooks = () => [Error.prepareStackTrace, ...process.listeners('unhandledRejection')]
  const before = hooks()
  const replayer = keep(createClearReplayer(await testBundle()))
  await replayer.replay(historyFromText(read('approved.json')), 'approved')
  expect(hooks()).toEqual(before)
  expect(globalHandlers.installed).toBe(false)
})

describe('histories: what stands in them', () => {
  test.each(names)('%s shows no secret, no stamp and no request body', (name) => {
    const text = decoded(JSON.parse(read(name)))
    expect(text).not.toContain(PLANTED_SECRET)
    expect(text).not.toMatch(/x-stamp|userTagName|privateKey/i)
    // The largest payload stays far below Temporal's warning line of 256 KB.
    expect(Math.max(...payloadSizes(JSON.parse(read(name))))).toBeLessThan(16_384)
  })

  test('the search would find a secret in a payload', () => {
    const data = Buffer.from(JSON.stringify({ key: PLANTED_SECRET })).toString('base64')
    expect(decoded({ events: [{ payloads: [{ data }] }] })).toContain(PLANTED_SECRET)
  })
})

/** A history as one text, with every base64 `data` decoded beside it. */
function decoded(value: unknown): string {
  if (Array.isArray(value)) return value.map(decoded).join('\n')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(
      ([name, member]) =>
        `${name}: ${name === 'data' ? Buffer.from(String(member), 'base64').toString() : decoded(member)}`,
    )
    .join('\n')
}

function payloadSizes(value: unknown): readonly number[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'data' && typeof member === 'string' ? [member.length] : payloadSizes(member),
  )
}
