import { QuorateError } from '../diagnostics/index.ts'
import type { RatesSettings } from '../service/index.ts'

const NAMES: ReadonlyMap<string, keyof RatesSettings> = new Map([
  ['source', 'source'],
  ['sub-organization', 'subOrganization'],
  ['sends', 'sends'],
])

/** The published rates: by plan only that of a source differs. */
const PROFILES: ReadonlyMap<string, RatesSettings> = new Map(
  Object.entries({ free: 1, pro: 3, enterprise: 60 }).map(([plan, source]) => [
    plan,
    { source, subOrganization: 10, sends: 10 },
  ]),
)

/**
 * Reads how many requests a second the service takes: those of `--rate-profile`, and over them each `--rate NAME=COUNT`.
 * @default none. Throws `cli/usage`.
 */
export function readRates(given: unknown, profile?: unknown): RatesSettings {
  return { ...readProfile(profile), ...readEach(given) }
}

function readProfile(name: unknown): RatesSettings {
  const rates = name === undefined ? {} : PROFILES.get(String(name))
  if (rates) return rates
  throw new QuorateError(
    'cli/usage',
    `expected --rate-profile to be one of ${[...PROFILES.keys()].join(', ')}, got \`${name}\``,
    {
      next: 'correct --rate-profile',
    },
  )
}

function readEach(given: unknown): RatesSettings {
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
