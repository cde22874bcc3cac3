import fc from 'fast-check'
import type { PolicyField } from '../../src/policy/index.ts'
import { given, interfaces } from '../chain/transactions/fuzz-inputs.ts'
import { isAnswer, type Kind, refusalOf } from '../chain/transactions/harness.ts'
import { anyText, policyField, sentence } from '../policy/fuzz-inputs.ts'
import { judgeText } from '../policy/judge-text.ts'

/** Something that is fed, with what, and its share of the inputs. */
export interface Soak {
  readonly name: string
  readonly share: number
  readonly input: fc.Arbitrary<unknown>
  readonly take: (input: never) => void
}

const text = ([field, written]: readonly [PolicyField, string]) => judgeText(field, written)

function transaction(input: { readonly kind: Kind; readonly bytes: Uint8Array; readonly acceptSigned: boolean }) {
  const { kind, bytes, acceptSigned } = input
  const said = refusalOf(kind, bytes, { interfaces, acceptSigned })
  if (!isAnswer(said)) throw new TypeError(said)
}

export const soaks: readonly Soak[] = [
  { name: 'policy, words of the language', share: 0.4, input: fc.tuple(policyField, sentence), take: text },
  { name: 'policy, any text', share: 0.1, input: fc.tuple(policyField, anyText), take: text },
  { name: 'transactions', share: 0.5, input: given, take: transaction },
]
