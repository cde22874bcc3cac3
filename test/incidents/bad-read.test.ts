/**
 * The first family of incidents: a bad read was taken as "empty", and what seemed to be missing was pruned. Whatever goes
 * wrong with any list, page or file, the outcome is an error or the whole world, never a smaller one. The requests are
 * those that the readers really make, so a query that is new to them is in all of this by itself.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { QueryClient } from '../../src/client/index.ts'
import { hasErrors, QuorateError } from '../../src/diagnostics/index.ts'
import { importDefinitions } from '../../src/import/index.ts'
import { readActual } from '../../src/live/index.ts'
import { type Lock, makePlan, movedSince, type Plan } from '../../src/plan/index.ts'
import { queries } from '../../src/protocol/index.ts'
import {
  type Actual,
  type Address,
  type Desired,
  KINDS,
  type KindName,
  parentOf,
  type Resource,
} from '../../src/resources/index.ts'
import { environmentOf, quorateShared as quorate, readAll, testFolder, writeFiles } from '../cli/harness.ts'
import { loadFiles, memoryFolder } from '../definitions/harness.ts'
import { type Fault, type Passing, startBetween } from '../faults/between.ts'
import { startFullOrganization } from '../faults/full-organization.ts'
import { createReader, EVERYTHING, nameOf, said, type World } from '../faults/reading.ts'
import type { TestService } from '../service/harness.ts'

// Some of these are processes, or many readings at once.
const NOTHING: ReadonlySet<KindName> = new Set()

let service: TestService
let readWorld: ReturnType<typeof createReader>
/** The whole world, and every question that was asked for it. */
let whole: World
let questions: readonly Passing[]
beforeAll(async () => {
  service = await startFullOrganization()
  readWorld = createReader(service)
  const { read, passed } = await readWorld(() => undefined)
  if (read.status === 'rejected') throw read.reason
  whole = read.value
  questions = passed
})
afterAll(() => service.close())

/** Activities are also what tells of the authentication proxy, of which this organization has none. */
const isOfProxy = ({ body }: Passing) => body.includes('UPDATE_AUTH_PROXY_CONFIG')

const theWhole = () => said({ status: 'fulfilled', value: whole })

/** Does the same to every question, each through a network of its own, and gives what came of it by its name. */
async function eachQuestion<T>(work: (question: number) => Promise<T>): Promise<readonly (readonly [string, T])[]> {
  return Promise.all(
    questions.map(async (one) => [`${one.question} ${nameOf(one)}`, await work(one.question)] as const),
  )
}

describe('bad read: the requests', () => {
  test('are all that the readers know, and pages of the long lists are among them', () => {
    const folders = ['src/live', 'src/resources', 'activities'].map((folder) =>
      join(import.meta.dirname, '../..', folder),
    )
    const texts = folders.flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => name.endsWith('.ts'))
        .map((name) => readFileSync(join(folder, name), 'utf8')),
    )
    const known = Object.keys(queries).filter((name) => texts.some((text) => text.includes(`'${name}'`)))
    // One activity and one transaction are asked for by their ids: without an answer their wait goes on.
    const byId = ['get_activity', 'get_send_transaction_status']
    // What a transaction has cost is left out where there is no answer.
    const extras = ['list_eth_transaction_history', 'list_sol_transaction_history']
    // A rotation's proof that the old key is gone; without an answer it asks again (test/workflows/rotate.test.ts).
    const proofs = ['get_api_keys']
    const apart = new Set([...byId, ...extras, ...proofs])
    expect(new Set(questions.map(nameOf))).toEqual(new Set(known.filter((name) => !apart.has(name))))
    const pages = Map.groupBy(questions, nameOf)
    expect(pages.get('list_wallet_accounts')!.length).toBeGreaterThan(3)
    expect(pages.get('list_activities')!.length).toBeGreaterThan(2)
    expect(new Set(questions.map(({ question }) => question)).size).toBe(questions.length)
  })
})

const answer = (status: number, body = ''): Fault => ({ kind: 'answer', status, body })
const refusal = answer(403, '{"code":7,"message":"x"}')

/** What may happen to a question however often it is asked, what the reader then says, and whether the next try may help. */
const faults: readonly {
  readonly name: string
  readonly fault: Fault
  readonly code: RegExp
  readonly passes?: true
  readonly attemptMs?: number
}[] = [
  { name: 'fails with 500', fault: answer(500), code: /^client\/server-error$/, passes: true },
  {
    name: 'fails with 503',
    fault: answer(503, '{"code":14,"message":"x"}'),
    code: /^client\/server-error$/,
    passes: true,
  },
  { name: 'is one too many, again and again', fault: answer(429), code: /^client\/rate-limited$/, passes: true },
  { name: 'is reset', fault: { kind: 'cut before' }, code: /^client\/unreachable$/, passes: true },
  { name: 'loses its answer', fault: { kind: 'cut after' }, code: /^client\/unreachable$/, passes: true },
  { name: 'breaks off within its answer', fault: { kind: 'cut within' }, code: /^client\/unreachable$/, passes: true },
  {
    name: 'is never answered',
    fault: { kind: 'silence' },
    code: /^client\/unreachable$/,
    passes: true,
    attemptMs: 300,
  },
  { name: 'is forbidden', fault: refusal, code: /^(client\/denied|live\/unreadable-kind)$/ },
  { name: 'is answered by the page of a proxy', fault: answer(200, '<html>'), code: /^client\/malformed-answer$/ },
  { name: 'is answered with nothing', fault: answer(200), code: /^client\/malformed-answer$/ },
  { name: 'is answered with an empty object', fault: answer(200, '{}'), code: /^live\/malformed-answer$/ },
  { name: 'is answered with a list', fault: answer(200, '[]'), code: /^client\/malformed-answer$/ },
  {
    name: 'is answered with half of the JSON',
    fault: { kind: 'changed', change: (text) => text.slice(0, text.length / 2) },
    code: /^client\/malformed-answer$/,
  },
]

describe('bad read: a request that goes wrong', () => {
  test.each(faults)('whichever $name, it is an error', async ({ fault, code, attemptMs = 5_000 }) => {
    const outcomes = await eachQuestion(async (question) => {
      const meddle = ({ question: asked }: Passing) => (asked === question ? fault : undefined)
      // On a busy machine a request before this one may come to nothing by itself: then there is more time.
      for (let times = 1; ; times *= 4) {
        const outcome = await readWorld(meddle, { ...EVERYTHING, attemptMs: attemptMs * times })
        if (outcome.faults > 0 || times > 100) return outcome
      }
    })
    for (const [name, { read, faults: struck }] of outcomes) {
      expect(struck, name).toBeGreaterThan(0)
      expect(read, name).toMatchObject({ status: 'rejected', reason: { code: expect.stringMatching(code) } })
    }
  })

  test('what may pass happens once to every request: the next attempts give the whole world', async () => {
    const passing = faults.filter(({ passes }) => passes).map(({ fault }) => fault)
    // In turns, so that each request meets each fault in one of the readings.
    const readings = [...passing.keys()].map((turn) => {
      const struck = new Set<number>()
      const once = ({ question }: Passing) => {
        if (struck.has(question)) return undefined
        struck.add(question)
        return passing[(question + turn) % passing.length]
      }
      return readWorld(once, { ...EVERYTHING, attemptMs: 1_000 })
    })
    for (const { read, faults: count } of await Promise.all(readings)) {
      expect(count).toBe(questions.length)
      expect(said(read)).toBe(theWhole())
    }
    expect(passing.length).toBe(7)
  })

  test('what is refused and nobody mentions is said to be unread, and nothing else is missing', async () => {
    const outcomes = await eachQuestion((question) =>
      readWorld((one) => (one.question === question ? refusal : undefined), { ...EVERYTHING, mentioned: NOTHING }),
    )
    const unread = outcomes.flatMap(([name, { read }]) => {
      if (read.status === 'rejected') return []
      const { actual } = read.value
      expect(actual.unread, name).toHaveLength(1)
      expect(actual.resources, name).toEqual(
        whole.actual.resources.filter(({ kind }) => !actual.unread!.includes(kind)),
      )
      return actual.unread!
    })
    expect([...new Set(unread)].sort()).toEqual(['apiKeyIpAllowlist', 'authProxy', 'invitation', 'ipAllowlist'])
  })
})

describe('bad read: a list that is short', () => {
  test('a page that holds fewer than it was asked for is not taken for the last', async () => {
    // A service that gives ten or forty a page, whatever it is asked for.
    for (const count of [10, 40]) {
      const { read, passed } = await readWorld(({ path }) =>
        /list_(wallet_accounts|activities)$/.test(path)
          ? {
              kind: 'changed',
              change: (text) => JSON.stringify(withLists(JSON.parse(text), (list) => list.slice(0, count))),
            }
          : undefined,
      )
      expect(said(read)).toBe(theWhole())
      expect(passed.length).toBeGreaterThan(questions.length)
    }
  })

  test.each(['list_wallet_accounts', 'list_activities'])(
    'a page of %s that leads to itself is an error',
    async (name) => {
      const full = questions.find(
        (one) => nameOf(one) === name && one.body.includes('"limit":"100"') && !isOfProxy(one),
      )!
      const text = (await service.root.raw(full.path, full.body)).text
      const { read } = await readWorld(({ path }) => (path.endsWith(name) ? answer(200, text) : undefined))
      expect(read).toMatchObject({ status: 'rejected', reason: { code: 'live/page-repeated' } })
    },
  )

  test('nothing is deleted because of it, and a plan that it changed is stale before anything is submitted', async () => {
    const planFor = await plannerOf(whole.actual)
    expect(planFor(whole.actual)?.changes.map(({ action, address }) => `${action} ${address}`)).toEqual([])
    const figures = { lists: 0, refused: 0, stale: 0, same: 0 }
    const recorded = await answersOf()
    for (const [asked, text] of recorded) {
      for (const list of listsIn(JSON.parse(text))) {
        for (const kept of [1, Number.POSITIVE_INFINITY]) {
          const short = new Map(recorded).set(asked, withoutRows(text, list, kept))
          const what = `${asked} without ${kept} of ${list.join('.')}`
          figures.lists++
          const actual = await readActual(replaying(short), EVERYTHING).catch((error: unknown) => error)
          if (actual instanceof QuorateError) {
            figures.refused++
            continue
          }
          const plan = planFor(actual as Actual)
          if (plan === undefined || plan.changes.length === 0) {
            figures.same++
            continue
          }
          expect(
            plan.changes.filter(({ action }) => action === 'delete'),
            what,
          ).toEqual([])
          expect(movedSince(plan, whole.actual), what).not.toEqual([])
          figures.stale++
        }
      }
    }
    console.log(
      `short lists=${figures.lists} refused=${figures.refused} stale=${figures.stale} no change=${figures.same}`,
    )
    expect(Math.min(figures.refused, figures.stale)).toBeGreaterThan(5)
  })
})

describe('bad read: the commands', () => {
  test.each([
    ['plan', 'defs'],
    ['apply', 'defs', '--yes'],
    ['unmanaged', 'defs'],
    ['import', 'defs'],
    ['import', 'new'],
  ])('%s %s says so, writes nothing and submits nothing', async (...args) => {
    const between = await startBetween(service.url, ({ path }) =>
      path.endsWith('list_policies')
        ? { kind: 'changed', change: (text) => text.slice(0, text.length / 2) }
        : undefined,
    )
    onTestFinished(() => between.close())
    const folder = testFolder()
    const acme = 'organization: acme\nid: ${env.ACME_ORGANIZATION_ID}\nmanage: { policies: all }\ntags: { tag-1: {} }\n'
    writeFiles(folder, { 'defs/acme.yaml': acme })
    const env = environmentOf(service, folder, service.root.privateKey, { QUORATE_BASE_URL: between.url })
    const before = readAll(folder)
    const ran = await quorate(args, { env, cwd: folder })
    expect(ran.stderr).toContain('error client/malformed-answer')
    expect(ran.exit).toBe(1)
    expect(readAll(folder)).toEqual(before)
    expect(between.faults).toBe(1)
    expect(between.passed.filter(({ submits }) => submits)).toEqual([])
  })
})

describe('bad read: definitions', () => {
  const files = {
    'acme.yaml': 'organization: acme\nid: 0b1c6c7e-55a4-4f0a-9c54-3f8a4a1d2e3f\nmanage: { policies: all, tags: all }\n',
    'tags.yaml': 'tags: { treasury: {}, finance: {} }\n',
    'policies.yaml': 'policies: { p: { effect: deny, condition: "false" } }\n',
    'interfaces.yaml':
      'smartContractInterfaces: { usdc: { address: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", type: ethereum, interfaceFile: usdc.json } }\n',
    'usdc.json': '[]',
  }
  const errno = (code: string) => Object.assign(new Error(code), { code })
  const broken: readonly { readonly name: string; readonly content: Uint8Array | string | Error }[] = [
    { name: 'may not be read', content: errno('EACCES') },
    { name: 'cannot be read by the disk', content: errno('EIO') },
    { name: 'is gone when it is opened', content: errno('ENOENT') },
    { name: 'is a folder', content: errno('EISDIR') },
    { name: 'is not UTF-8', content: Uint8Array.of(0x70, 0xff, 0xfe) },
    { name: 'does not parse', content: 'tags: { treasury: {}\n' },
    { name: 'is no map', content: '- tags\n' },
  ]

  test('the folder is whole without a fault', async () => {
    const { desired, diagnostics } = await loadFiles(files, { env: {}, vars: {} })
    expect(diagnostics).toEqual([])
    expect(desired?.resources.map(({ address }) => address)).toContain('smartContractInterface.usdc')
  })

  test.each(broken)('whichever file $name, there is nothing to plan with', async ({ name, content }) => {
    for (const file of Object.keys(files)) {
      const text = file === 'usdc.json' && typeof content === 'string' ? '{' : content
      const { desired, diagnostics } = await loadFiles({ ...files, [file]: text }, { env: {}, vars: {} })
      expect(desired, `${file} ${name}`).toBeUndefined()
      expect(hasErrors(diagnostics), `${file} ${name}`).toBe(true)
    }
  })

  test('a folder that cannot be listed is an error', async () => {
    const loaded = await loadFiles({}, { env: {}, vars: {} })
    expect(loaded.desired).toBeUndefined()
    expect(hasErrors(loaded.diagnostics)).toBe(true)
  })
})

describe('bad read: kinds that definitions do not mention', () => {
  test('whichever it is, what lives of it and was never managed here is unmanaged and stays', async () => {
    const all = await definitionsOf(whole.actual)
    for (const kind of KINDS) {
      const desired = without(kind, all.desired)
      const lock = lockOf(desired, all.lock)
      const { plan, diagnostics } = makePlan({ ...input, desired, actual: whole.actual, lock })
      expect([kind, plan.changes, diagnostics]).toEqual([kind, [], []])
    }
    const { plan } = makePlan({
      ...input,
      desired: { ...all.desired, manageAll: new Set(), resources: [] },
      actual: whole.actual,
      lock: {},
    })
    expect(plan.changes).toEqual([])
    const lives = new Set(whole.actual.resources.map(({ kind }) => kind))
    expect(new Set(plan.unmanaged.map(({ kind }) => kind)).size).toBeGreaterThan(8)
    expect(lives.size).toBeGreaterThan(13)
  })

  test('whichever it is, what was managed here and is defined no more has a row or goes with one that has', async () => {
    const { desired: all, lock } = await definitionsOf(whole.actual)
    for (const kind of KINDS) {
      const desired = without(kind, all)
      const { plan } = makePlan({ ...input, desired, actual: whole.actual, lock })
      const rows = new Set(plan.changes.map(({ address }) => address))
      const isSaid = (address: Address): boolean =>
        rows.has(address) || (parentOf(address) !== undefined && isSaid(parentOf(address)!))
      const gone = all.resources.filter(({ address }) => !desired.resources.some((one) => one.address === address))
      expect([kind, gone.filter(({ address }) => !isSaid(address))]).toEqual([kind, []])
    }
  })
})

const input = { creators: {}, baseUrl: 'http://127.0.0.1:1', allow: [], now: '2026-01-01T00:00:00.000Z' }

/** Definitions that say all that lives and that definitions can say, and its lock. All of these kinds is managed. */
async function definitionsOf(actual: Actual): Promise<{ readonly desired: Desired; readonly lock: Lock }> {
  const imported = await importDefinitions({
    ...input,
    folder: 'acme',
    reader: memoryFolder({}),
    env: {},
    vars: {},
    actual,
    lock: {},
  })
  expect(imported.diagnostics).toEqual([])
  const files = Object.fromEntries([...imported.files].map(([path, text]) => [path.slice('acme/'.length), text]))
  const { desired, diagnostics } = await loadFiles(files, { env: {}, vars: {} })
  expect(diagnostics).toEqual([])
  const unsaid = new Set(imported.leftOut.map(({ address }) => address.match(/^\w+/)?.[0]))
  return {
    desired: { ...desired!, manageAll: new Set(KINDS.filter((kind) => !unsaid.has(kind))) },
    lock: lockOf(desired!, imported.lock),
  }
}

/** The rows of what is defined: nothing else was ever managed here. */
function lockOf({ resources }: Desired, lock: Lock): Lock {
  const declared = new Set(resources.map(({ address }) => address))
  const kept = (rows: Lock[string]) =>
    Object.fromEntries(Object.entries(rows).filter(([address]) => declared.has(address)))
  return Object.fromEntries(Object.entries(lock).map(([id, rows]) => [id, kept(rows)]))
}

/** Definitions that say nothing of a kind, nor of what is inside its things or names them. */
function without(kind: KindName, desired: Desired): Desired {
  const gone = new Set<string>()
  const leans = ({ kind: one, parent, fields }: Resource) =>
    one === kind ||
    (parent !== undefined && gone.has(parent)) ||
    [...gone].some((address) => JSON.stringify(fields).includes(JSON.stringify({ $ref: address })))
  for (let before = -1; before !== gone.size; ) {
    before = gone.size
    for (const one of desired.resources) if (leans(one)) gone.add(one.address)
  }
  return { ...desired, manageAll: new Set(), resources: desired.resources.filter(({ address }) => !gone.has(address)) }
}

/** Plans for definitions of all that lives; nothing when the plan is refused. */
async function plannerOf(world: Actual): Promise<(actual: Actual) => Plan | undefined> {
  const { desired, lock } = await definitionsOf(world)
  return (actual) => {
    const { plan, diagnostics } = makePlan({ ...input, desired, actual, lock })
    return hasErrors(diagnostics) ? undefined : plan
  }
}

/** Each question as `name body`, with what the service answers. */
async function answersOf(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const { path, body } of questions.filter((one) => nameOf(one) !== 'list_activities' || isOfProxy(one))) {
    found.set(`${path.split('/').at(-1)} ${body}`, (await service.root.raw(path, body)).text)
  }
  return found
}

/** A client that answers from what was recorded. */
function replaying(recorded: ReadonlyMap<string, string>): QueryClient {
  const { organizationId, root } = service
  return {
    baseUrl: service.url,
    organizationId,
    publicKey: root.publicKey,
    query: (async (name: string, request: object) => {
      const text = recorded.get(`${name} ${JSON.stringify({ organizationId, ...request })}`)
      if (text === undefined) throw new QuorateError('client/not-found', name)
      return JSON.parse(text) as unknown
    }) as QueryClient['query'],
  }
}

type Path = readonly (string | number)[]

/** Where lists with something in them stand; of several records of a list only the first is looked into. */
function listsIn(value: unknown, at: Path = []): readonly Path[] {
  if (Array.isArray(value)) return value.length === 0 ? [] : [at, ...listsIn(value[0], [...at, 0])]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => listsIn(member, [...at, name]))
}

function withoutRows(text: string, path: Path, count: number): string {
  const root = JSON.parse(text) as unknown
  const list = path.reduce((at, key) => (at as Record<string | number, unknown>)[key], root) as unknown[]
  list.splice(0, count)
  return JSON.stringify(root)
}

function withLists(answered: Record<string, unknown>, change: (list: readonly unknown[]) => unknown): object {
  const members = Object.entries(answered).map(([name, value]) => [name, Array.isArray(value) ? change(value) : value])
  return Object.fromEntries(members)
}
