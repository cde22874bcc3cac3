/** One contract for every stamper: wherever its key is kept and whatever its scheme. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KEY_CURVES, type KeyCurve, randomBytes } from '../../src/crypto/index.ts'
import {
  createApiKeyStamper,
  type KeyReference,
  type LoadKeyOptions,
  loadPrivateKey,
  readStamp,
  SCHEMES,
  type SignatureScheme,
  verifyStamp,
} from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { runs } from '../runs.ts'
import { faultOf } from './faults.ts'
import { INDEPENDENT } from './independent.ts'

const LARGEST_BODY = 200_000
const BODIES = 200

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-stampers-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
function fileOf(text: string, mode = 0o600): string {
  const path = join(folder, `key-${files++}`)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

/** Where keys are kept, and how to keep one there. */
const STORES = {
  file: (text) => ({ kind: 'file', path: fileOf(text) }),
  value: (text) => ({ kind: 'value', name: 'ACME_KEY', value: new Secret(text) }),
  command: (text) => ({ kind: 'command', command: `cat ${fileOf(text)}` }),
} as const satisfies Record<KeyReference['kind'], (text: string) => KeyReference>

const stores = Object.keys(STORES) as (keyof typeof STORES)[]
const schemes = Object.keys(SCHEMES) as SignatureScheme[]

/** A few bodies are large and most are small: the power keeps both ends. */
const sizesOf = (count: number) =>
  Array.from({ length: count }, (_, i) => Math.floor(LARGEST_BODY * (i / (count - 1)) ** 5))
/** A stamper knows nothing of where its key was: what each scheme makes of many bodies is tried with one store. */
const SIZES = { file: sizesOf(BODIES), value: sizesOf(runs(20)), command: sizesOf(runs(20)) }

const open = async (reference: KeyReference, scheme: SignatureScheme, options?: LoadKeyOptions) =>
  createApiKeyStamper(await loadPrivateKey(reference, options), { scheme })

describe('stampers', () => {
  test('contract: the bodies go from none to 200 kB', () => {
    expect([SIZES.file.length, SIZES.file[0], SIZES.file.at(-1)]).toEqual([200, 0, 200_000])
    expect([SIZES.value[0], SIZES.value.at(-1)]).toEqual([0, 200_000])
  })

  for (const scheme of schemes) {
    for (const store of stores) {
      const sizes = SIZES[store]
      test(`contract: ${store}, ${scheme}: ${sizes.length} stamps verify here and with an independent implementation`, async () => {
        const { curve } = SCHEMES[scheme]
        const { privateKey, publicKey } = KEY_CURVES[curve].generateKeyPair()
        const stamper = await open(STORES[store](`${privateKey}:${curve}`), scheme)
        expect(stamper.publicKey).toBe(publicKey)
        const counts = { ours: 0, independent: 0 }
        for (const size of sizes) {
          const body = randomBytes(size)
          const { name, value } = await stamper.stamp(body)
          const stamp = readStamp({ [name]: value })
          counts.ours += Number(stamp.scheme === scheme && verifyStamp(stamp, body))
          counts.independent += Number(stamp.publicKey === publicKey && INDEPENDENT[scheme](stamp, body))
        }
        expect(counts).toEqual({ ours: sizes.length, independent: sizes.length })
      })
    }

    test(`contract: the independent verifier of ${scheme} refuses another body and another key`, async () => {
      const { curve } = SCHEMES[scheme]
      const [own, other] = [KEY_CURVES[curve].generateKeyPair(), KEY_CURVES[curve].generateKeyPair()]
      const stamper = await open(STORES.value(`${own.privateKey}:${curve}`), scheme)
      const { name, value } = await stamper.stamp(Uint8Array.of(1))
      const stamp = readStamp({ [name]: value })
      const verify = INDEPENDENT[scheme]
      expect([
        verify(stamp, Uint8Array.of(1)),
        verify(stamp, Uint8Array.of(2)),
        verify({ ...stamp, publicKey: other.publicKey }, Uint8Array.of(1)),
      ]).toEqual([true, false, false])
    })
  }
})

interface Fault {
  readonly name: string
  readonly store: keyof typeof STORES
  readonly code: string
  readonly said: string
  readonly arrange: (key: { readonly text: string; readonly curve: KeyCurve }) => KeyReference
  readonly options?: LoadKeyOptions
  readonly asNobody?: boolean
}

const NOBODY = 65_534

/** The key of somebody else beside this one. */
const withOtherPublicKey = ({ text, curve }: { text: string; curve: KeyCurve }) =>
  JSON.stringify({ privateKey: text, publicKey: KEY_CURVES[curve].generateKeyPair().publicKey })

const FAULTS: readonly Fault[] = [
  ...stores.map((store) => ({
    name: 'wrong key',
    store,
    code: 'stamp/key-mismatch',
    said: 'does not belong to the public key',
    arrange: (key: { text: string; curve: KeyCurve }) => STORES[store](withOtherPublicKey(key)),
  })),
  {
    name: 'locked store: nothing there',
    store: 'file',
    code: 'stamp/key-unreadable',
    said: 'there is no such file',
    arrange: ({ text }) => ({ kind: 'file', path: `${fileOf(text)}.locked` }),
  },
  {
    name: 'locked store: nothing in it',
    store: 'value',
    code: 'stamp/key-unreadable',
    said: 'it is empty',
    arrange: () => STORES.value(''),
  },
  {
    name: 'locked store: it says so, and prints what it has',
    store: 'command',
    code: 'stamp/key-command-failed',
    said: 'said: the vault is locked',
    arrange: ({ text }) => ({
      kind: 'command',
      command: `cat ${fileOf(text)}; echo "the vault is locked" >&2; cat ${fileOf(text)} >&2; exit 4`,
    }),
  },
  {
    name: 'denied permission: another user’s file',
    store: 'file',
    code: 'stamp/key-unreadable',
    said: 'permission denied',
    arrange: ({ text }) => ({ kind: 'file', path: fileOf(text, process.geteuid?.() === 0 ? 0o600 : 0) }),
    asNobody: true,
  },
  {
    name: 'denied permission: a file that is open to others',
    store: 'file',
    code: 'stamp/key-exposed',
    said: 'its mode is 0644',
    arrange: ({ text }) => ({ kind: 'file', path: fileOf(text, 0o644) }),
  },
  {
    name: 'denied permission: a program that may not be run',
    store: 'command',
    code: 'stamp/key-command-failed',
    said: 'it ended with status 126',
    arrange: ({ text }) => ({ kind: 'command', command: fileOf(`#!/bin/sh\necho ${text}\n`, 0o600) }),
  },
  {
    name: 'time-out: a pipe that nobody fills',
    store: 'file',
    code: 'stamp/key-unreadable',
    said: 'it is not an ordinary file',
    arrange: () => {
      const path = join(folder, `pipe-${files++}`)
      execFileSync('mkfifo', ['-m', '600', path])
      return { kind: 'file', path }
    },
  },
  {
    name: 'time-out: a program that prints the key and does not end',
    store: 'command',
    code: 'stamp/key-command-failed',
    said: 'it took longer than 0.2 s',
    arrange: ({ text }) => ({ kind: 'command', command: `cat ${fileOf(text)}; exec sleep 60` }),
    options: { timeoutMs: 200 },
  },
]

describe('faults', () => {
  for (const { name, store, code, said, arrange, options, asNobody = false } of FAULTS) {
    for (const scheme of schemes) {
      test(`contract: ${store}, ${scheme}: ${name} is ${code}, and shows no secret`, async () => {
        const { curve } = SCHEMES[scheme]
        const { privateKey } = KEY_CURVES[curve].generateKeyPair()
        const reference = arrange({ text: `${privateKey}:${curve}`, curve })
        const fault = await as(asNobody, () => faultOf(open(reference, scheme, options), [privateKey]))
        expect(fault).toEqual({ code, message: expect.stringContaining(said), next: expect.any(String) })
      })
    }
  }
})

/** Runs as a user without rights, if this one has all of them. */
async function as<T>(nobody: boolean, run: () => Promise<T>): Promise<T> {
  if (!nobody || process.geteuid?.() !== 0) return run()
  process.seteuid?.(NOBODY)
  try {
    return await run()
  } finally {
    process.seteuid?.(0)
  }
}
