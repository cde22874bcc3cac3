/** What `quorate who-can` is asked about, and the name of the state that it answers for. */
import { createHash } from 'node:crypto'
import { QuorateError } from '../../diagnostics/index.ts'
import type { Actual } from '../../resources/index.ts'
import type { CommandInput } from '../command.ts'

/** The address of the wallet or private key that is asked about, by its name, address or id; undefined for all of them. */
export function readHolder({ resources }: Actual, { wallet, key }: CommandInput['options']): string | undefined {
  const name = (wallet ?? key) as string | undefined
  if (name === undefined) return undefined
  if (wallet !== undefined && key !== undefined)
    throw new QuorateError('cli/usage', 'expected `--wallet` or `--key`, got both', { next: 'ask about one of them' })
  const sort = wallet === undefined ? 'private key' : 'wallet'
  const holders = resources.filter(({ kind }) => kind === (wallet === undefined ? 'privateKey' : 'wallet'))
  const found = holders.filter((one) => one.name === name || one.address === name || one.id === name)
  if (found.length === 1) return found[0]!.address
  const known = holders.map(({ address }) => address).sort()
  throw new QuorateError(
    'cli/unknown-wallet',
    `there ${found.length === 0 ? `is no ${sort}` : `are several ${sort}s`} \`${name}\``,
    {
      facts: { known: known.slice(0, 20).join(', ') || 'none', submitted: 'nothing' },
      next: `give its name, address or id; \`--wallet\` is for wallets, \`--key\` for private keys`,
    },
  )
}

/** Says which state an answer is about: equal for equal states, whatever the order in which they are listed. */
export function digestOf({ organizationId, resources }: Actual): string {
  const rows = resources.map((one) => JSON.stringify(one, sortKeys)).sort()
  return `sha256:${createHash('sha256')
    .update(JSON.stringify([organizationId, rows]))
    .digest('hex')}`
}

function sortKeys(_: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
