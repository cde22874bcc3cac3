/**
 * The walls of the house, as data: which room may import which. Moving a wall is a change of one line here.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { importsIn } from './imports.ts'

const root = join(import.meta.dirname, '..')

const spine = [
  'encoding',
  'diagnostics',
  'local',
  'loopback',
  'telemetry',
  'crypto',
  'protocol',
  'policy',
  'authority',
  'keepers',
  'stamp',
  'webhook',
  'chain',
  'spark',
]
const anything = 'anything'

const walls: Readonly<Record<string, readonly string[] | typeof anything>> = {
  // The spine: what both wings must agree on.
  encoding: [],
  diagnostics: [],
  // One place that says whose a folder, a file or a socket must be: keys, the service, plans and the CLI all keep some.
  local: ['diagnostics'],
  loopback: [],
  telemetry: [],

  crypto: ['encoding'],
  protocol: ['encoding'],
  policy: ['diagnostics', 'protocol'],
  // Who may decide is said once, for both wings.
  authority: ['policy', 'protocol'],
  keepers: ['local'],
  stamp: ['encoding', 'crypto', 'protocol', 'diagnostics', 'telemetry', 'local', 'keepers'],
  webhook: ['encoding', 'crypto', 'protocol'],
  chain: ['encoding', 'crypto'],
  spark: ['encoding', 'crypto'],
  // The toolkit: reads, plans, applies.
  'look-alikes': ['diagnostics'],
  resources: ['policy', 'authority', 'chain', 'encoding', 'protocol', 'diagnostics', 'look-alikes', 'webhook', 'local'],
  definitions: ['resources', 'policy', 'chain', 'protocol', 'diagnostics', 'look-alikes', 'encoding', 'crypto'],
  client: ['protocol', 'stamp', 'crypto', 'encoding', 'telemetry', 'diagnostics', 'local'],
  live: ['resources', 'client', 'protocol', 'diagnostics'],
  plan: ['resources', 'policy', 'protocol', 'diagnostics', 'look-alikes', 'encoding', 'crypto'],
  analysis: ['plan', 'policy', 'authority', 'resources', 'protocol'],
  import: ['plan', 'definitions', 'resources', 'diagnostics'],
  scenarios: ['definitions', 'resources', 'policy', 'authority', 'chain', 'protocol', 'diagnostics', 'encoding'],
  activities: [
    'chain',
    'plan',
    'analysis',
    'authority',
    'live',
    'definitions',
    'resources',
    'client',
    'stamp',
    'protocol',
    'telemetry',
    'diagnostics',
    'local',
    'encoding',
    'crypto',
  ],
  // A person's own session: how they log in, and where it is kept.
  session: ['client', 'stamp', 'local', 'loopback', 'telemetry', 'crypto', 'diagnostics', 'encoding'],
  workflows: [],
  // What the doors do, without a terminal.
  operations: [
    'workflows',
    'activities',
    'analysis',
    'import',
    'live',
    'plan',
    'definitions',
    'resources',
    'client',
    'stamp',
    'protocol',
    'telemetry',
    'diagnostics',
    'local',
    'encoding',
  ],
  sending: [
    'operations',
    'workflows',
    'plan',
    'authority',
    'activities',
    'scenarios',
    'definitions',
    'live',
    'resources',
    'client',
    'policy',
    'chain',
    'protocol',
    'diagnostics',
    'look-alikes',
    'encoding',
  ],
  evidence: ['analysis', 'scenarios', 'live', 'resources', 'stamp', 'protocol', 'encoding'],
  incident: [
    'operations',
    'activities',
    'analysis',
    'live',
    'plan',
    'policy',
    'resources',
    'client',
    'protocol',
    'diagnostics',
  ],
  lsp: ['definitions', 'policy', 'resources', 'diagnostics'],
  // The service: answers.
  service: spine,
  // The doors: nobody but a door imports a door.
  config: ['diagnostics', 'stamp', 'telemetry'],
  worker: anything,
  cli: anything,
  testing: anything,
  build: ['worker'],
}

/**
 * The walls inside the service. A resource's folder is two rooms: `resources/table`, its `store.ts` and `wire.ts`, which every
 * reader of that resource may import; and `resources`, its handlers and queries, which only the service's tables read.
 */
const serviceWalls: Readonly<Record<string, readonly string[] | typeof anything>> = {
  readings: [],
  store: [],
  loop: ['store'],
  codes: ['store'],
  error: ['codes'],
  readiness: ['store'],
  network: [],
  nodes: [],
  enclaves: [],
  work: [],
  oidc: ['network'],
  chains: ['nodes'],
  operator: ['error'],
  keys: ['error', 'store'],
  'resources/table': ['store'],
  proofs: ['store', 'keys'],
  verification: ['readings', 'store', 'keys'],
  rates: ['store', 'resources/table'],
  webauthn: ['store', 'resources/table'],
  messages: ['error', 'store', 'resources/table', 'keys', 'network', 'loop'],
  'on-ramp': ['readings', 'store', 'resources/table', 'keys', 'oidc'],
  engine: [
    'on-ramp',
    'proofs',
    'store',
    'resources/table',
    'keys',
    'messages',
    'rates',
    'work',
    'network',
    'oidc',
    'webauthn',
    'chains',
    'verification',
  ],
  signing: ['engine', 'store', 'resources/table', 'keys', 'work'],
  bundles: ['engine', 'store', 'resources/table', 'keys'],
  login: ['engine', 'store', 'resources/table', 'keys', 'readings'],
  oauth: ['readings', 'store', 'resources/table', 'keys', 'oidc', 'verification', 'engine', 'login'],
  outbox: ['error', 'operator', 'engine', 'store', 'resources/table', 'keys', 'network', 'loop'],
  balances: ['outbox', 'chains', 'nodes', 'store', 'resources/table', 'loop'],
  sends: ['operator', 'signing', 'outbox', 'chains', 'nodes', 'store', 'resources/table', 'keys', 'loop'],
  history: ['sends', 'chains', 'nodes', 'store', 'resources/table'],
  resources: [
    'enclaves',
    'resources/table',
    'readings',
    'engine',
    'store',
    'signing',
    'bundles',
    'login',
    'sends',
    'history',
    'chains',
    'nodes',
    'keys',
    'network',
    'webauthn',
    'work',
    'messages',
    'verification',
    'proofs',
  ],
  'master-key': ['error'],
  folder: ['error', 'master-key', 'store', 'resources/table', 'keys', 'sends'],
  http: ['error', 'engine', 'store', 'network', 'oauth', 'operator', 'outbox', 'rates', 'readiness'],
  metrics: ['http', 'sends', 'store'],
  // A client of the API: it reads its own settings and key, and all else it submits and asks for.
  proxy: [
    'error',
    'master-key',
    'readings',
    'store',
    'resources/table',
    'keys',
    'network',
    'oidc',
    // Where Google is, whose tokens link identities.
    'oauth',
    'verification',
    'rates',
    'http',
    'folder',
    // Of the proxy that is a process of its own.
    'metrics',
  ],
  // What may be set, with the defaults of the rooms that it is of.
  settings: [
    'master-key',
    'enclaves',
    'store',
    'on-ramp',
    'chains',
    'http',
    'messages',
    'network',
    'oauth',
    'proxy',
    'rates',
    'readiness',
  ],
  // Where the service is put together, and its door.
  service: anything,
  index: anything,
}

/** The walls inside the CLI. */
const cliWalls: Readonly<Record<string, readonly string[] | typeof anything>> = {
  version: [],
  'one-pass': [],
  'old-node': [],
  'ready-text': [],
  colour: [],
  'main-path': [],
  codes: [],
  limits: [],
  ports: [],
  rates: [],
  chains: [],
  files: [],
  difference: [],
  logger: [],
  'demo-keys': [],
  tracing: [],
  habits: [],
  'organization-worker': [],
  withheld: [],
  screen: [],
  'shell-word': [],
  io: ['colour', 'screen', 'withheld'],
  values: ['io', 'files'],
  looking: ['io', 'screen'],
  durations: [],
  waiting: ['durations', 'io', 'screen'],
  deadline: ['durations'],
  command: ['deadline', 'io'],
  'service-folder': ['command'],
  'message-options': ['command'],
  'database-options': ['command'],
  'proxy-options': ['command'],
  'issuer-options': ['command'],
  listening: ['command'],
  // The processes and servers that a command works with: the API, Temporal, the background process.
  background: [
    'command',
    'screen',
    'shell-word',
    'values',
    'waiting',
    'chains',
    'logger',
    'service-folder',
    'message-options',
    'database-options',
    'proxy-options',
    'version',
    'main-path',
    'organization-worker',
  ],
  'kept-rows': [],
  'vote-reasons': ['command', 'files', 'kept-rows'],
  'command-orders': ['kept-rows'],
  'proof-options': ['command', 'background', 'screen'],
  'auth-proxy-state': ['command', 'background', 'service-folder'],
  'webhooks-given-up': ['command', 'database-options', 'screen', 'service-folder'],
  'webhook-keys': [],
  'webhook-receiver': [],
  'webhook-verifier': ['webhook-keys', 'webhook-receiver'],
  'webhook-looks': ['webhook-receiver', 'webhook-verifier'],
  views: ['command', 'io', 'screen', 'shell-word', 'files', 'waiting'],
  policies: ['command', 'values', 'views'],
  'policy-set': [],
  'compared-findings': ['policy-set', 'views'],
  given: ['command', 'values'],
  // Where a command works on definitions or a plan: nothing is brought up that cannot have their organization.
  'place-of': ['command', 'background', 'given'],
  // What a rotation of keys is told on the command line, and what it changes in definitions.
  rotation: ['command', 'background', 'difference', 'durations', 'files', 'given', 'screen'],
  planning: ['command', 'given', 'views', 'files'],
  sending: [
    'given',
    'place-of',
    'planning',
    'background',
    'views',
    'command',
    'looking',
    'waiting',
    'io',
    'screen',
    'files',
  ],
  // One file a command, and the table of them.
  commands: anything,
  program: ['commands', 'command', 'io', 'ready-text'],
  reference: ['commands', 'command', 'codes', 'main-path', 'ready-text'],
  'help-code': ['reference', 'io', 'screen'],
  run: [
    'deadline',
    'habits',
    'help-code',
    'program',
    'commands',
    'command',
    'files',
    'views',
    'io',
    'screen',
    'tracing',
    'version',
  ],
  unwritten: [],
  start: ['colour', 'one-pass', 'ready-text', 'run', 'unwritten'],
  main: ['old-node', 'start'],
}

/**
 * How the folders of the CLI are entered. A command's own start waits for what its files import, so there are doors beside an index:
 * those of `background` load rooms that its index does not (`lightRooms`), and a view is loaded by the commands that show it.
 */
const cliDoors: Readonly<Record<string, readonly string[] | 'any file'>> = {
  background: [
    'index.ts',
    'connect.ts',
    'temporal.ts',
    'embedded-temporal.ts',
    'kept-chains.ts',
    'plan-store-place.ts',
    'away.ts',
    'node-fault.ts',
    'hold-reconciler.ts',
    'process.ts',
  ],
  views: 'any file',
  rotation: ['index.ts'],
  sending: ['index.ts'],
  commands: ['index.ts'],
  // The advice of an error, without the pages.
  reference: ['errors.ts'],
}

/** All that the index of `src/cli/background` loads of other rooms. */
const lightRooms = ['config', 'diagnostics', 'local', 'telemetry']

/**
 * The wall of `policy/fast`, which evaluates the commonest forms of policies without their general steps: what of the room it may
 * import, and its files that others may, with those. It is no other result than theirs, so nothing else needs to know of it. It has no
 * index: half of it is below the evaluator, which asks it for each node, and half of it above, so that one door would be a circle.
 */
const policyFast = {
  mayImport: [
    'ast',
    'compiled-policy',
    'environment',
    'expression',
    'frame',
    'generated',
    'limits',
    'load',
    'model',
    'types',
    'unit',
    'values',
  ],
  importedBy: {
    'direct.ts': ['evaluate'],
    'quantify.ts': ['evaluate'],
    'index-of-policies.ts': ['authorize', 'index'],
    'sound.ts': ['taking-part'],
  } as Readonly<Record<string, readonly string[]>>,
}

/** Files that may be imported past a room's index, because what is bundled must stay small: workflows, and policies in a browser. */
const importedByPath = [
  'src/plan/walk.ts',
  'src/protocol/status.ts',
  'src/protocol/catalogue.ts',
  'src/protocol/spelling.ts',
  // Prose for the docs, which the library for browsers leaves out.
  'src/policy/readings.ts',
]

const files = ['src', 'activities', 'workflows'].flatMap(listSources)
const imports = files.flatMap((from) =>
  importsIn(from, readFileSync(join(root, from), 'utf8')).map((each) => ({ from, ...each })),
)

function listSources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
}

function roomOf(path: string): string | undefined {
  const [first, second] = relative('.', path).split('/')
  if (first === 'src') return second
  return first === 'activities' || first === 'workflows' ? first : undefined
}

/** The room inside another (the service, the CLI, policy) where a file stands: its folder, or its own name for a file at the top. */
function innerRoomOf(path: string, outer: string): string | undefined {
  const [, of, room, file] = /^src\/(service|cli|policy)\/([^/]+?)(?:\.ts|\/(.+))$/.exec(path) ?? []
  if (of !== outer) return undefined
  return room === 'resources' && file && /\/(.+-)?(store|wire)\.ts$/.test(file) ? 'resources/table' : room
}

/** The imports between the rooms inside another. */
function crossingsInside(outer: string) {
  return imports.flatMap(({ from, to, lazy }) => {
    const [room, other] = [innerRoomOf(from, outer), innerRoomOf(to, outer)]
    return room === undefined || other === undefined || room === other ? [] : [{ from, to, lazy, room, other }]
  })
}

const crossings = imports.filter(({ from, to }) => roomOf(to) !== undefined && roomOf(from) !== roomOf(to))

describe('architecture', () => {
  test('the imports were read: enough files, enough imports', () => {
    expect(files.length).toBeGreaterThan(100)
    expect(imports.length).toBeGreaterThan(3 * files.length - files.length)
    expect(crossings.length).toBeGreaterThan(100)
  })

  test('every room is in the table of walls', () => {
    expect([...new Set(files.map(roomOf))].filter((room) => room === undefined || !(room in walls))).toEqual([])
  })

  test('no import passes a wall', () => {
    const forbidden = crossings.filter(({ from, to, typeOnly }) => {
      const allowed = walls[roomOf(from)!]!
      if (allowed === anything) return false
      if (roomOf(from) === 'workflows') return !typeOnly && !importedByPath.includes(to)
      return !allowed.includes(roomOf(to)!)
    })
    expect(forbidden).toEqual([])
  })

  test.each([
    { outer: 'service', walls: serviceWalls },
    { outer: 'cli', walls: cliWalls },
  ])('no import passes a wall inside $outer, and its rooms are in an order', ({ outer, walls }) => {
    // A room imports only rooms above it in the table, so that there are no circles of rooms.
    const order = Object.keys(walls)
    const upwards = Object.entries(walls).filter(
      ([, allowed], at) => allowed !== anything && allowed.some((each) => !order.slice(0, at).includes(each)),
    )
    expect(upwards.map(([room]) => room)).toEqual([])
    const inside = crossingsInside(outer)
    expect(inside.length).toBeGreaterThan(100)
    const forbidden = inside.filter(({ room, other }) => {
      const allowed = walls[room] ?? []
      const isAbove = order.indexOf(other) < order.indexOf(room)
      return !isAbove || (allowed !== anything && !allowed.includes(other))
    })
    expect(forbidden).toEqual([])
  })

  test('the rooms inside the service are entered through their index', () => {
    // What only some starts need is loaded by its own path.
    const past = crossingsInside('service').filter(
      ({ to, lazy, other }) =>
        !lazy && to.split('/').length > 3 && !to.endsWith('/index.ts') && other !== 'resources/table',
    )
    expect(past).toEqual([])
  })

  test('the folders inside the CLI are entered through their doors alone, and each door is used', () => {
    const entered = new Map<string, Set<string>>()
    for (const { to } of crossingsInside('cli')) {
      const [, folder, file] = /^src\/cli\/([^/]+)\/(.+)$/.exec(to) ?? []
      if (folder !== undefined && file !== undefined) entered.set(folder, (entered.get(folder) ?? new Set()).add(file))
    }
    const shown = ([folder, by]: readonly [string, Iterable<string>]) => [
      folder,
      cliDoors[folder] === 'any file' ? cliDoors[folder] : [...by].sort(),
    ]
    expect(Object.fromEntries([...entered].map(shown))).toEqual(Object.fromEntries(Object.entries(cliDoors).map(shown)))
  })

  test('the index of the background process loads little', () => {
    const loaded = new Set(['src/cli/background/index.ts'])
    for (const file of loaded)
      for (const { from, to, typeOnly, lazy } of imports) if (from === file && !typeOnly && !lazy) loaded.add(to)
    const rooms = [...loaded].map(roomOf).filter((room) => room !== undefined && room !== 'cli')
    expect([...new Set(rooms)].sort()).toEqual(lightRooms)
  })

  test('policy evaluates its commonest forms behind a wall', () => {
    const inside = crossingsInside('policy')
    const out = inside.filter(({ room }) => room === 'fast')
    expect([...new Set(out.map(({ other }) => other))].sort()).toEqual(policyFast.mayImport)
    const entered = Object.groupBy(
      inside.filter(({ other }) => other === 'fast'),
      ({ to }) => to.replace('src/policy/fast/', ''),
    )
    const importers = Object.entries(entered).map(([file, all]) => [file, all!.map(({ room }) => room).sort()])
    expect(Object.fromEntries(importers)).toEqual(policyFast.importedBy)
  })

  test('nobody but a door imports a door', () => {
    const doors = ['config', 'worker', 'cli', 'testing', 'build']
    const through = crossings.filter(({ from, to }) => doors.includes(roomOf(to)!) && !doors.includes(roomOf(from)!))
    expect(through).toEqual([])
  })

  test('other rooms are imported through their index', () => {
    const past = crossings.filter(
      ({ from, to }) =>
        !/(^|\/)index\.ts$/.test(to) &&
        !importedByPath.includes(to) &&
        roomOf(from) !== 'workflows' &&
        !to.endsWith('.json'),
    )
    expect(past.filter(({ to }) => !to.startsWith('workflows/'))).toEqual([])
  })

  test('there is no cycle of imports, types included', () => {
    const next = new Map<string, string[]>()
    for (const { from, to } of imports) {
      if (to.endsWith('.ts')) next.set(from, [...(next.get(from) ?? []), to])
    }
    const state = new Map<string, 'open' | 'closed'>()
    const cycles: string[] = []
    const visit = (file: string, path: readonly string[]) => {
      if (state.get(file) === 'closed') return
      if (state.get(file) === 'open') {
        cycles.push([...path.slice(path.indexOf(file)), file].join(' → '))
        return
      }
      state.set(file, 'open')
      for (const other of next.get(file) ?? []) visit(other, [...path, file])
      state.set(file, 'closed')
    }
    for (const file of files) visit(file, [])
    expect(cycles).toEqual([])
  })

  test('what the doors do is done without a terminal', () => {
    const loud = files.filter(
      (file) =>
        ['operations', 'sending'].includes(roomOf(file)!) &&
        /\bconsole\b|\bprocess\.std(?:out|err|in)\b/.test(readFileSync(join(root, file), 'utf8')),
    )
    expect(loud).toEqual([])
  })

  test('only config reads the environment', () => {
    const readers = files.filter(
      (file) => roomOf(file) !== 'config' && /\bprocess\.env\b/.test(readFileSync(join(root, file), 'utf8')),
    )
    expect(readers).toEqual([])
  })

  test('every room says what it is', () => {
    const silent = [...new Set(crossings.map(({ to }) => to))]
      .filter((path) => /(^|\/)index\.ts$/.test(path))
      .filter((path) => !readFileSync(join(root, path), 'utf8').startsWith('/**'))
    expect(silent).toEqual([])
  })

  test('the page about the architecture has every room, with what it may import', () => {
    const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
    const section = page.slice(page.indexOf('## Rooms'), page.indexOf('## One submit'))
    const rows = [...section.matchAll(/^\| `([\w/-]+)` \| .+ \| (.+) \|$/gm)].map(([, room, allowed]) => [
      room,
      allowed,
    ])
    const shown = (room: string, allowed: readonly string[] | typeof anything) => {
      if (room === 'workflows') return 'types alone, and the files below'
      if (allowed === anything) return anything
      if (allowed === spine) return 'the spine'
      return allowed.map((each) => `\`${each}\``).join(', ') || '–'
    }
    expect(rows).toEqual(Object.entries(walls).map(([room, allowed]) => [room, shown(room, allowed)]))
    expect(importedByPath.filter((file) => !section.includes(`\`${file}\``))).toEqual([])
  })

  test('every exported name is used by another file or a test', () => {
    const tests = listSources('test')
    const text = new Map([...files, ...tests].map((file) => [file, readFileSync(join(root, file), 'utf8')]))
    // Passing a name on is no use of it.
    const using = (source: string) => source.replaceAll(/^export (type )?\{[^}]*\} from .*$/gm, '')
    const users = new Map<string, string[]>()
    for (const [file, source] of text) {
      for (const word of new Set(using(source).match(/[A-Za-z_$][\w$]*/g))) {
        const found = users.get(word)
        if (found) found.push(file)
        else users.set(word, [file])
      }
    }
    const unused: string[] = []
    for (const file of files.filter((name) => !/\.gen\.ts$|(^|\/)index\.ts$/.test(name))) {
      for (const [, name] of text
        .get(file)!
        .matchAll(/^export (?:async )?(?:const|function\*?|class|interface|type) ([A-Za-z_$][\w$]*)/gm)) {
        if (users.get(name!)!.some((user) => user !== file)) continue
        if (text.get(file)!.split(new RegExp(`\\b${name}\\b`)).length < 3) unused.push(`${file}: ${name}`)
      }
    }
    expect(unused).toEqual([])
    // It reads every file: a busy machine takes its time.
  })
})
