/** Bytes that nobody wrote: whatever comes is read or refused, in time and memory that the size of the input bounds. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPayloadFacts } from '../../../src/chain/index.ts'
import { runs } from '../../runs.ts'
import { readVectors } from '../../vectors/read-vectors.ts'
import { corpus, edit, given, interfaces, spoil } from './fuzz-inputs.ts'
import { isAnswer, kinds, refusal, refusalOf } from './harness.ts'

const SEED = 20_260_101

test('fuzz: the transactions that are spoiled are read before', () => {
  for (const kind of kinds)
    for (const bytes of corpus[kind]) expect([kind, refusalOf(kind, bytes, { interfaces })]).toEqual([kind, 'read'])
})

test('fuzz: bytes are read or refused, and nothing else is thrown', () => {
  const counts = { read: 0, refused: 0 }
  fc.assert(
    fc.property(given, ({ kind, bytes, acceptSigned }) => {
      const said = refusalOf(kind, bytes, { interfaces, acceptSigned })
      counts[said === 'read' ? 'read' : 'refused']++
      return isAnswer(said)
    }),
    { seed: SEED, numRuns: runs(4_000) },
  )
  // Both must happen often, or the fuzzing would try only one side.
  expect(counts.read).toBeGreaterThan(100)
  expect(counts.refused).toBeGreaterThan(1_000)
})

test('fuzz: texts that are no hex are refused', () => {
  fc.assert(
    fc.property(fc.constantFrom(...kinds), fc.string({ unit: 'binary' }), (kind, text) => {
      const said = refusalOf(kind, text)
      return said === 'read' || said.startsWith('failed to parse transaction: ')
    }),
    { seed: SEED },
  )
})

test('fuzz: payloads are read or refused, and nothing else is thrown', () => {
  const messages = readVectors<{ data: object }>('eip712/messages.jsonl').map(({ data }) =>
    new TextEncoder().encode(JSON.stringify(data)),
  )
  const payload = fc.oneof(
    fc.json(),
    fc
      .tuple(fc.constantFrom(...messages), fc.array(edit, { minLength: 1, maxLength: 3 }))
      .map(([bytes, edits]) => new TextDecoder().decode(spoil(bytes, edits))),
  )
  fc.assert(
    fc.property(fc.constantFrom('EIP712', 'EIP7702_AUTHORIZATION'), payload, (encoding, text) => {
      const said = refusal(() => readPayloadFacts({ encoding: `PAYLOAD_ENCODING_${encoding}`, payload: text }))
      return said === 'read' || said.startsWith('failed to parse payload: ')
    }),
    { seed: SEED, numRuns: runs(400) },
  )
})

test.each([
  ['RLP lists in lists', 'ETHEREUM', Uint8Array.from({ length: 200_000 }, () => 0xc1)],
  ['many empty RLP lists', 'TEMPO', Uint8Array.from([0x76, 0xfa, 0x0f, 0x42, 0x40, ...Array(1_000_000).fill(0xc0)])],
  [
    'many fields of a message',
    'TRON',
    Uint8Array.from({ length: 400_000 }, (_, index) => (index % 2 === 0 ? 0x5a : 0)),
  ],
  ['a large number of signatures', 'SOLANA', Uint8Array.of(0xff, 0xff, 0x03, ...Array(1_000).fill(0))],
  [
    'a large number of inputs',
    'BITCOIN',
    Uint8Array.from([0x70, 0x73, 0x62, 0x74, 0xff, 1, 0, 0xfe, 0xff, 0xff, 0xff, 0x0f, ...Array(1_000).fill(0)]),
  ],
] as const)('fuzz: %s are refused and do not hold up', (_name, kind, bytes) => {
  expect(refusalOf(kind, bytes)).toMatch(/^failed to parse transaction: /)
})

test('fuzz: typed data that nests in JSON without end is refused', () => {
  const payload = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
  expect(refusal(() => readPayloadFacts({ encoding: 'PAYLOAD_ENCODING_EIP712', payload }))).toMatch(
    /^failed to parse payload: /,
  )
})
