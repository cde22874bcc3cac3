import { QuorateError } from '../diagnostics/index.ts'
import type { RatesSettings } from '../service/index.ts'

const NAMES: ReadonlyMap<string, keyof RatesSettings> = new Map([
  ['source', 'source'],
  ['sub-organization', 'subOrganization'],
  ['sends', 'sends'],
])

/** Reads how many requests a second the service takes, from each `--rate NAME=COUNT`. @default none. Throws `cli/usage`. */
export function readRates(given: unknown): RatesSettings {
  const texts = Array.isArray(given) ? given.map(String) : []
  return Object.fromEntries(
    texts.map((text) => {
      const [, word = '', count] = /^([a-z-]+)=([1-9]\d{0,5})$/.exec(text) ?? []
      const name = NAMES.get(word)
      if (name !== undefined) return [name, Number(count)]
      throw new QuorateError('cli/usage', `expected --rate to be a rate and requests a second, got \`${text}\``, {
        next: 'write it as --rate source=60, --rate sub-organization=10 or --rate sends=10',
      })
    }),
  )
}
