import { parseAmount } from './amount.ts'
import { inField, usage } from './usage.ts'

/** The highest fees of a send, as a person bounds them; the service chooses absent ones. */
export interface FeeRequest {
  /** For a unit of gas, with its unit: `60gwei`. */
  readonly maxFee?: string
  /** Units of gas. */
  readonly gas?: string
}

/** The bounds as they go into the parameters of a send. Throws `cli/usage`. */
export function makeFees({ maxFee, gas }: FeeRequest): {
  readonly maxFeePerGas?: string
  readonly gasLimit?: string
} {
  if (gas !== undefined && !/^[1-9]\d{0,15}$/.test(gas)) {
    throw usage(`expected --gas to be a number of units of gas, got \`${gas}\``, 'a plain payment takes 21000', 'gas')
  }
  return {
    ...(maxFee === undefined ? {} : { maxFeePerGas: inField('max-fee', () => parseAmount(maxFee)).atomic.toString() }),
    ...(gas === undefined ? {} : { gasLimit: gas }),
  }
}
