/**
 * Key material in what goes out: files that are passed on are refused, streams leave it out, and both say where it stood. Keys and
 * mnemonics here are made for this file, or are those of published vectors.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { entropyToMnemonic } from '@scure/bip39'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { assertNoKeys, writeNew, writePrivate, writeText } from '../../src/cli/files.ts'
import { withhold } from '../../src/cli/withheld.ts'
import { findKeyMaterial, keyPlaces, placeInWords, withoutKeys } from '../../src/diagnostics/index.ts'
import { assertNoKeysSubmitted } from '../../src/operations/plan-checks.ts'
import { environmentOf, quorate, readAll, testFolder, writeFiles } from '../cli/harness.ts'
import { loadFiles } from '../definitions/harness.ts'
import { declare, policy } from '../plan/organization.ts'
import { planOf } from '../plan/planning.ts'
import { startTestService } from '../service/harness.ts'

const root = join(import.meta.dirname, '../..')
/** The last vector of BIP-39's own list, of 12 words. */
const MNEMONIC = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
const PEM = '-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg\n-----END PRIVATE KEY-----'

const LISTS = [
  ...['english', 'czech', 'french', 'italian', 'japanese', 'korean', 'portuguese', 'simplified-chinese', 'spanish'],
  'traditional-chinese',
]
const load = createRequire(import.meta.url)
const wordlists = LISTS.map((name) => (load(`@scure/bip39/wordlists/${name}.js`) as { wordlist: string[] }).wordlist)

const entropy = fc
  .constantFrom(16, 20, 24, 28, 32)
  .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }))
const mnemonic = fc.tuple(entropy, fc.constantFrom(...wordlists)).map(([bytes, list]) => entropyToMnemonic(bytes, list))

/** Ways to write words down. */
const FORMS: readonly ((words: readonly string[]) => string)[] = [
  (words) => words.join(' '),
  (words) => words.join('\u3000'),
  (words) => words.join('\u00a0'),
  (words) => `notes: ${words.join(' ').toUpperCase()}\n`,
  (words) => words.join('\n'),
  (words) => words.map((word, index) => `${index + 1}. ${word}`).join('\n'),
  (words) => words.map((word) => `- ${word}\n`).join(''),
  (words) => JSON.stringify({ words }),
  (words) => JSON.stringify({ words }, null, 2),
  (words) => JSON.stringify(words.join('\n')),
  (words) => `"${words.join('","')}"`,
  (words) => `on 2 of 3: ${words.join(', ')}.`,
  (words) => words.join(' ').normalize('NFC'),
]

describe('key search: mnemonics', () => {
  test('of every language and length, however it is written down, are found', () => {
    fc.assert(
      fc.property(mnemonic, fc.constantFrom(...FORMS), (words, form) => {
        const text = form(words.split(/\s/))
        expect(findKeyMaterial(text)?.name).toBe('a mnemonic')
        expect(withoutKeys(text)).toContain('[looks like a mnemonic; not shown]')
      }),
      { numRuns: 300 },
    )
  })

  test('with a wrong checksum, or one word short, are none', () => {
    const [list] = wordlists
    expect(findKeyMaterial(MNEMONIC)).toBeDefined()
    expect(findKeyMaterial(MNEMONIC.replace('yellow', 'year'))).toBeUndefined()
    expect(findKeyMaterial(MNEMONIC.split(' ').slice(1).join(' '))).toBeUndefined()
    const good = list!.filter((last) => findKeyMaterial(MNEMONIC.replace('yellow', last)))
    expect(good.length).toBe(2048 / 16)
  })

  test('ordinary text is none: pages, sources and definitions of this repository, whole and in pieces put together anew', () => {
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) =>
        /^(?:(?:docs|src|definitions|activities|workflows)\/.*\.(?:md|ts|yaml|json)|[A-Z]+\.md)$/.test(name),
      )
      .map((name) => readFileSync(join(root, name), 'utf8'))
    expect(files.length).toBeGreaterThan(500)
    expect(
      files.flatMap((text) => keyPlaces(text).map(({ name, start }) => [name, text.slice(start, start + 40)])),
    ).toEqual([])
    const sentences = files
      .filter((text) => text.startsWith('#'))
      .flatMap((text) => text.match(/[A-Z][^.|`]{20,300}\./g) ?? [])
    expect(sentences.length).toBeGreaterThan(500)
    const words = sentences.flatMap((text) => text.match(/[a-z]+/g) ?? [])
    const prose = fc.array(fc.constantFrom(...sentences), { maxLength: 30 }).map((all) => all.join(' '))
    const salad = fc.array(fc.constantFrom(...words), { maxLength: 200 }).map((all) => all.join(' '))
    fc.assert(
      fc.property(fc.oneof(prose, salad), (text) => {
        expect(findKeyMaterial(text)).toBeUndefined()
      }),
      { numRuns: 500 },
    )
  })

  test('a text of nothing but words of the list is searched in bounded time, and so are its beginnings', () => {
    expect(keyPlaces('abandon '.repeat(300_000))).toEqual([])
    expect(keyPlaces(`${'zoo '.repeat(20)}\n${MNEMONIC}`).length).toBeLessThanOrEqual(2)
  })
})

/** Files with calls that write, and why what they write need not be searched. Every other one goes through `cli/files.ts`. */
const WRITERS: Readonly<Record<string, string>> = {
  'src/cli/files.ts': 'searches',
  'src/cli/io.ts': 'searches (withheld.ts)',
  'src/cli/main.ts': 'says that this Node.js is too old',
  'src/cli/unwritten.ts': 'what the system says of stdout',
  'src/cli/start.ts': 'the help and completion of the build, as they lie beside the program',
  'src/cli/reference/write-ready-texts.ts': 'a step of the build: help and completion',
  'src/definitions/lock.ts': 'is given the search by the writer of a lock',
  'src/operations/commit-source.ts': 'the allowed signers that a person has named, for Git: public keys',
  'activities/rotation-keys.ts': 'key files of rotations under way: their purpose is a private key',
  'activities/rotation-sinks.ts': 'the file in which a new key is handed over',
  'src/stamp/key-file.ts': 'a key file: its purpose is a private key',
  'src/client/turns.ts': 'a file without content, whose age is the time of the last request',
  'src/service/folder/bootstrap.ts': 'bootstrap.json: the root user’s key, for its owner alone',
  'src/service/folder/files.ts': 'master.key: its purpose is a key',
  'src/service/folder/key-rotation.ts': 'master.key: its purpose is a key',
  'src/service/master-key/wrapped-key.ts': 'master.key: its purpose is a key',
  'src/service/folder/lock.ts': 'a process id',
  'src/service/folder/snapshot.ts': 'snapshots: everything that a service keeps, keys sealed, the master key not in it',
  'src/service/folder/store-copy.ts': 'a database: what the service keeps, keys sealed, the master key not in it',
  'src/service/service.ts': 'an empty database',
  'src/service/messages/folder-transport.ts': 'codes and links for people, for the owner of the folder alone',
  'src/service/operator/operator.ts': 'the clock and faults of a test service',
  'src/local/private-file.ts': 'writes what its callers, which are in this table, give it',
  'src/session/kept.ts': 'sessions of people and their keys, for their owner alone',
  'src/worker/codec-server.ts': 'codec.token: its purpose is a secret, for its owner alone',
  'src/worker/payload-key.ts': 'payload.key: its purpose is a key',
  'src/local/private-socket.ts': 'a secret of this start, for its owner alone',
  'src/worker/certificate-files.ts': 'certificates of the data folder with their keys, for their owner alone',
  'src/worker/make-certificates.ts': 'says how it is called',
  'src/worker/make-namespace.ts': 'says how it is called',
  'src/worker/check-health.ts': 'says how it is called, and what a health address answered',
  'src/worker/temporal-server.ts': 'settings of the embedded Temporal',
  'src/cli/background/note.ts': 'ports and process ids, and why a process ended, for the owner of the folder alone',
  'src/cli/background/former-temporal.ts': 'ids of runs',
  'src/operations/compromised-keys.ts': 'public keys that an incident has marked',
  'src/cli/background/kept-chains.ts':
    'URLs of nodes, which may hold a key of their provider, for the owner of the folder alone',
  'src/cli/background/start.ts': 'opens the log of a background process',
  'src/cli/commands/policy/lsp.ts': 'speaks to an editor about the files that it has open; findings are without keys',
  'src/telemetry/log-sink.ts': 'logs: neither bodies nor intents are in them',
  'src/cli/kept-rows.ts':
    'what its callers give it: orders without keys, and reasons that are searched as they are read',
  'src/local/private-folder.ts': 'what Git ignores in a folder: everything',
  'activities/store-files.ts':
    'the plan store: signed bodies as they will be sent, which apply has searched (cli/key-in-plan)',
  'activities/records.ts': 'the plan store: marks of its records',
  'activities/store-key.ts': 'the plan store: marks of records that had none',
  'activities/store-move.ts': 'store.key: its purpose is a key',
  'activities/store-place.ts': 'where the plan store is, which may hold a password, for the owner of the folder alone',
  'src/build/build.ts': 'the program itself, from its source',
  'src/build/prepare.ts': 'a digest of the sources',
  'activities/record-names.ts': 'the plan store: names of its records, which are digests',
}

describe('key search: what writes', () => {
  test('every file of the program that writes searches first, or is in the table of those that need not, with its reason', () => {
    const WRITES =
      /\b(?:writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|writeSync|copyFile(?:Sync)?|cpSync)\(|\bopen(?:Sync)?\([^)]*['"](?:a|w|wx|ax|r\+)['"]|(?:stdout|stderr)\.write\(|\b(?:writePrivate|claimPrivate)\(/
    const names = ['src', 'activities', 'workflows'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !/(?:^|\/)generate(?:\.ts|\/)/.test(name))
        .map((name) => `${folder}/${name}`),
    )
    const writers = names.filter((name) => {
      const text = readFileSync(join(root, name), 'utf8')
      // The CLI's own writers search; that of `local`, which has the same name, does not.
      const searches =
        name.startsWith('src/cli/') && /import \{[^}]*\bwritePrivate\b[^}]*\} from '[./]*files\.ts'/.test(text)
      return WRITES.test(searches ? text.replace(/\bwritePrivate\(/g, '') : text)
    })
    expect(writers.filter((name) => !Object.hasOwn(WRITERS, name))).toEqual([])
    expect(writers.length).toBeGreaterThan(10)
    expect(Object.keys(WRITERS).filter((name) => !existsSync(join(root, name)))).toEqual([])
  })

  test.each([
    ['a mnemonic', MNEMONIC],
    ['a PEM private key', PEM],
  ])('files with %s are refused by every writer, with the place and without the key', (name, secret) => {
    const path = join(testFolder(), 'x.json')
    const text = `{\n  "a": 1,\n  "notes": ${JSON.stringify(secret)}\n}\n`
    for (const write of [writeText, writePrivate, writeNew, assertNoKeys]) {
      expect(() => write(path, text)).toThrow(
        expect.objectContaining({
          code: 'cli/key-in-file',
          message: `what would stand in \`${path}\` holds ${name}; not shown, and not written`,
          facts: { file: path, at: 'line 3, after `notes`', written: 'nothing' },
        }),
      )
    }
    expect(existsSync(path)).toBe(false)
  })

  test('a stream leaves it out, says where it stood, and prints the rest; JSON stays JSON', () => {
    const data = { a: [1], notes: MNEMONIC, more: { pem: PEM, good: 'as it is' } }
    const { shown, said } = withhold(JSON.stringify(data, null, 2))
    expect(JSON.parse(shown)).toEqual({
      a: [1],
      notes: '[looks like a mnemonic; not shown]',
      more: { pem: '[looks like a PEM private key; not shown]', good: 'as it is' },
    })
    expect(said).toEqual([
      'line 5, after `notes`: a mnemonic is not printed\n',
      'line 7, after `pem`: a PEM private key is not printed\n',
    ])
    expect(withhold('nothing of the kind')).toEqual({ shown: 'nothing of the kind', said: [] })
    expect(placeInWords(`${'ab'.repeat(32)}: ${MNEMONIC}`, { start: 66, end: 70 })).toBe('line 1')
  })

  test('a plan whose activities would carry one is not applied, and definitions that hold one are refused at its place', async () => {
    const plan = planOf({ desired: [declare('policy.p', { ...policy(null, 'true'), notes: MNEMONIC })] })
    expect(() => assertNoKeysSubmitted(plan)).toThrow(expect.objectContaining({ code: 'cli/key-in-plan' }))
    const { desired, diagnostics } = await loadFiles({
      'a.yaml': `organization: acme\nid: \${env.ORG}\n# ${MNEMONIC}\ntags: { ops: {} }\n`,
    })
    expect(desired).toBeUndefined()
    expect(diagnostics.map(({ code, message, span }) => [code, message, span.start])).toEqual([
      ['definitions/secret', 'this is a mnemonic, which no definition may hold', 36],
    ])
  })

  test('what others wrote into the organization is withheld by what shows it, and refused by what writes it', async () => {
    const service = await startTestService()
    onTestFinished(() => service.close())
    const folder = testFolder()
    const env = environmentOf(service, folder, service.root.privateKey)
    await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: MNEMONIC, userIds: [] })
    const notes = { policyName: 'p', effect: 'EFFECT_DENY', condition: 'false', consensus: 'true', notes: PEM }
    await service.root.submit('ACTIVITY_TYPE_CREATE_POLICY_V3', notes)
    const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': 'organization: acme\nid: ${env.ACME_ORGANIZATION_ID}\n' })
    const secret = /sausage worth|MIGHAgEA/

    const listed = await quorate(['activities', '--json'], { env })
    expect(JSON.parse(listed.stdout).activities).toHaveLength(2)
    expect(listed.stderr).toMatch(/stdout, line \d+, after `userTagName`: a mnemonic is not printed\n/)
    const unmanaged = await quorate(['unmanaged', defs], { env })
    expect(unmanaged.stdout).toContain('[looks like a mnemonic; not shown]')
    const imported = await quorate(['import', join(folder, 'new')], { env })
    expect(imported.stdout + imported.stderr).toContain('this is a mnemonic, which no definition may hold')
    const scenario = '{ by: a, activity: CREATE_WALLET, expect: { outcome: deny } }\n'
    writeFiles(defs, {
      'b.yaml': 'users: { a: {} }\npolicies: { p: { effect: deny, condition: "true" } }\n',
      'a.test.yaml': `scenarios:\n  ${MNEMONIC}:\n    ${scenario}`,
    })
    const junit = join(folder, 'junit.xml')
    const played = await quorate(['policy', 'test', defs, '--junit', junit], { env })
    expect(played.stdout + played.stderr).toContain('error cli/key-in-file')
    expect(existsSync(junit)).toBe(false)
    for (const { stdout, stderr } of [listed, unmanaged, imported, played]) expect(stdout + stderr).not.toMatch(secret)
    const written = readAll(folder).filter(({ path }) => !path.includes('/data/') && !path.endsWith('.test.yaml'))
    expect(written.filter(({ text }) => secret.test(text)).map(({ path }) => path)).toEqual([])
  })
})
