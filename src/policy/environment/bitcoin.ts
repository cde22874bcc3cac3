import { int, list, string, struct } from '../types.ts'
import { field, type StructTable } from './row.ts'

/** Bitcoin (docs/protocol/policies.md#fields). */
export const bitcoinStructs: StructTable = {
  Bitcoin: {
    doc: 'what a Bitcoin request signs',
    fields: [field('tx', struct('BitcoinTransaction'), 'the transaction')],
  },
  BitcoinTransaction: {
    doc: 'a Bitcoin transaction',
    fields: [
      field('version', string, 'version'),
      field('inputs', list(struct('BitcoinTxInput')), 'inputs'),
      field('outputs', list(struct('BitcoinTxOutput')), 'outputs'),
      field('locktime', struct('BitcoinTxLocktime'), 'locktime'),
      field('fee', int, 'sum of inputs minus sum of outputs, in satoshi'),
    ],
  },
  BitcoinTxInput: {
    doc: 'an input',
    fields: [
      field('tx_id', string, 'transaction that made the spent output'),
      field('vout', int, 'position of the spent output'),
      field('sequence', int, 'sequence number'),
    ],
  },
  BitcoinTxOutput: {
    doc: 'an output',
    fields: [
      field('value', int, 'amount in satoshi'),
      field('script_pubkey', string, 'script'),
      field('address', string, "address; '' when the script has no address form"),
      field('address_type', string, 'P2PKH, P2SH, P2WPKH, P2WSH or P2TR'),
    ],
  },
  BitcoinTxLocktime: {
    doc: 'a locktime',
    fields: [field('amount', int, 'block height or seconds'), field('type', string, 'Seconds or Blocks')],
  },
}
