/** The search that says that no secret was written anywhere finds each that was, whatever was made of it. */
import { deflateSync, gzipSync } from 'node:zlib'
import type { Payload } from '@temporalio/common'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeBase58 } from '../../src/encoding/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { createPayloadSeal } from '../../src/worker/index.ts'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { createSearch, openAll } from './secret-search.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const hex = (text: string) => Buffer.from(text).toString('hex')
const wrapped = (text: string) => text.match(/.{1,19}/g)!
const json = JSON.stringify

/** What programs make of a text before they write it. */
const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  'UTF-8 that is read as Latin-1': (secret) => Buffer.from(secret).toString('latin1'),
  'base64, wherever it begins in a group': (secret) =>
    ['', 'a', 'ab'].map((before) => base64(before + secret)).join('\n'),
  'base64 in the middle of a text': (secret) => base64(`{"code":"${secret}","more":1}`),
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
  'base64 in lines, as PEM has it': (secret) => wrapped(base64(secret)).join('\r\n'),
  'base64 in lines, in JSON': (secret) => json({ pem: wrapped(base64(secret)).join('\n') }),
  hex,
  HEX: (secret) => hex(secret).toUpperCase(),
  base58: (secret) => encodeBase58(Buffer.from(secret)),
  JSON: (secret) => json({ secret }),
  'JSON in JSON': (secret) => json({ body: json({ secret }) }),
  'JSON of nothing but ASCII': (secret) =>
    json({ secret }).replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'JSON with slashes escaped': (secret) => json({ secret }).replaceAll('/', '\\/'),
  'a part of a URL': (secret) => `https://a.example/?q=${encodeURIComponent(secret)}&r`,
  'a form': (secret) => String(new URLSearchParams({ secret })),
  'a Buffer in JSON': (secret) => json(Buffer.from(secret), null, 2),
  'a Uint8Array in JSON': (secret) => json(new Uint8Array(Buffer.from(secret))),
  'JSON in base64 in JSON in base64': (secret) => base64(json({ data: base64(json({ secret })) })),
  'hex in base64': (secret) => base64(hex(secret)),
  'base64 in hex': (secret) => hex(base64(secret)),
  'gzip in base64': (secret) => gzipSync(`before ${secret} after`).toString('base64'),
  'deflated, in hex': (secret) => deflateSync(`before ${secret} after`).toString('hex'),
}

const KEY = 'c3f1a9d0e75b42868ab1c6d3f50e97242b8de16f7a3c09d5e4417fb2860dca93'
const SECRETS: Readonly<Record<string, string>> = {
  'a private key': KEY,
  'a one-time passcode': 'K7QW2M9XR',
  'a secret with what each form writes in its own way': 'planted "secret" %/+\\ ü & <1>~é\u{1f511}?',
}

/** One character of it is another one, or of a key one of each part. */
function mutated(secret: string): string {
  const characters = [...secret]
  for (let at = 5; at < characters.length; at += 16) characters[at] = characters[at] === '0' ? '1' : '0'
  return characters.join('')
}

describe.each(Object.entries(SECRETS))('%s', (_, secret) => {
  const find = createSearch({ it: secret, other: 'what is written nowhere' })
  const among = (text: string) =>
    `{"time":"2026-01-01T00:00:00Z","id":"4f1c9b52-8f0e-4d58-9d3f-0b0a55b7c111"}\n${text}\n{"more":[1,2,3]}`

  test.each(Object.entries(FORMS))('is found as %s, and another is not', (_, form) => {
    expect(find(among(form(secret)))).toEqual(['it'])
    expect(find(among(form(mutated(secret))))).toEqual([])
  })
})

test('a key is found by its bytes, and by half of it, in both cases', () => {
  const find = createSearch({ key: KEY })
  const bytes = Buffer.from(KEY, 'hex')
  for (const said of [
    bytes.toString('base64'),
    bytes.toString('latin1'),
    json(bytes),
    encodeBase58(bytes),
    KEY.toUpperCase(),
    KEY.slice(0, 31),
    KEY.slice(20, 51),
    base64(KEY.slice(-31)),
  ])
    expect([said, find(said)]).toEqual([said, ['key']])
  expect(find(KEY.slice(0, 15))).toEqual([])
})

test('nothing is found in what holds none, whatever it is', () => {
  const find = createSearch(SECRETS)
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      expect(find(text)).toEqual([])
    }),
  )
})

describe('what Temporal keeps', () => {
  const seal = createPayloadSeal([new Secret(TEST_PAYLOAD_KEY)])
  const find = createSearch({ key: KEY, other: 'what is written nowhere' })
  const sealed = async (data: string, metadata: Payload['metadata'] = {}) => {
    const place = { type: 'workflow', namespace: 'default', workflowId: 'apply/o' } as const
    const payload = {
      metadata: { ...metadata, encoding: Buffer.from('json/plain'), side: Buffer.from('outside') },
      data: Buffer.from(data),
    }
    return (await seal.codec.encode([payload], place))[0]!
  }
  const history = (attributes: object) => ({ events: [{ eventId: 1, identity: 'a worker', attributes }] })

  test.each(['plain', 'JSON in JSON', 'JSON in base64 in JSON in base64', 'HEX'])(
    'is opened, and a key in a sealed payload found as %s',
    async (name) => {
      const told = history({ input: { payloads: [await sealed(json(FORMS[name]!(KEY)))] } })
      expect(find(json(told))).toEqual([])
      expect(find(openAll(told, seal))).toEqual(['key'])
      const other = history({ input: { payloads: [await sealed(json(FORMS[name]!(mutated(KEY))))] } })
      expect(find(openAll(other, seal))).toEqual([])
    },
  )

  test('is searched in every member: metadata, payloads that were not sealed, texts, whoever worked on it', async () => {
    const clear = { metadata: { encoding: Buffer.from('binary/plain') }, data: Buffer.from(KEY, 'hex') }
    for (const told of [
      history({ failure: { cause: { encodedAttributes: await sealed('{}', { hint: Buffer.from(KEY) }) } } }),
      history({ memo: { fields: { note: clear } } }),
      history({ failure: { message: `could not sign with ${KEY}` } }),
      { events: [{ identity: `worker@${KEY}` }] },
      { events: [{ nonce: new Uint8Array(Buffer.from(KEY, 'hex')) }] },
    ])
      expect(find(openAll(told, seal))).toEqual(['key'])
  })

  test('is an error where it is sealed and not opened: nobody has searched it', async () => {
    const other = createPayloadSeal([new Secret('ab'.repeat(32))])
    const told = history({ input: { payloads: [await sealed('{}')] } })
    expect(() => openAll(told, other)).toThrow(/input.*sealed|sealed and was not opened/)
    const [payload] = told.events.map(
      ({ attributes }) => (attributes as { input: { payloads: Payload[] } }).input.payloads[0]!,
    )
    const moved = { ...payload!, metadata: { ...payload!.metadata, place: Buffer.from('elsewhere') } }
    expect(() => openAll(history({ moved }), seal)).toThrow('moved is sealed and was not opened')
  })
})
