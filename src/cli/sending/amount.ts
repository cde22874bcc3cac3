import { QuorateError } from '../../diagnostics/index.ts'

/** How many digits each unit of Ethereum's currency stands before the wei. */
const UNITS = { eth: 18, gwei: 9, wei: 0 } as const

/** An amount as it was written, and in the smallest unit. */
export interface Amount {
  /** `1.5 eth`. */
  readonly text: string
  readonly wei: bigint
}

/**
 * Reads an amount with its unit, `1.5eth`; nothing is ever rounded, and no unit is guessed. Throws `cli/usage`.
 */
export function parseAmount(written: string): Amount {
  const [, whole, fraction = '', unit] = /^(\d{1,60})(?:\.(\d{1,60}))? ?(eth|gwei|wei)$/.exec(written.trim()) ?? []
  if (whole === undefined || unit === undefined) {
    throw usage(`expected an amount with its unit, got \`${written}\``)
  }
  const digits = UNITS[unit as keyof typeof UNITS]
  if (fraction.length > digits) throw usage(`\`${written}\` is finer than a wei: ${unit} has ${digits} decimals`)
  const text = `${whole}${fraction === '' ? '' : `.${fraction}`} ${unit}`
  return { text, wei: BigInt(whole + fraction.padEnd(digits, '0')) }
}

function usage(message: string): QuorateError {
  return new QuorateError('cli/usage', message, {
    facts: { submitted: 'nothing' },
    next: 'write it like 1.5eth, 30gwei or 21000wei',
  })
}
