/** Stands for `mnemonic.ts` in bundles for browsers and workflows: the lists of words are files, and nothing is printed there. */
import type { Stretch } from './mnemonic.ts'

export function findMnemonics(_text: string): readonly Stretch[] {
  return []
}
