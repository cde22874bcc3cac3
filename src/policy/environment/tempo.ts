import { hex, int, list, struct } from '../types.ts'
import { defaulted, field, type StructTable } from './row.ts'

/** Tempo (docs/protocol/policies.md#fields). There are no contract interfaces: arguments are slices of `input`. */
export const tempoStructs: StructTable = {
  Tempo: {
    doc: 'what a Tempo request signs',
    fields: [field('tx', struct('TempoTransaction'), 'the transaction')],
  },
  TempoTransaction: {
    doc: 'a Tempo transaction',
    fields: [
      field('chain_id', int, 'chain id'),
      field('nonce', int, 'nonce'),
      field('gas_limit', int, 'gas limit'),
      field('from', hex, 'signer'),
      field('fee_token', hex, 'token that pays the fee'),
      field('max_fee_per_gas', int, 'highest fee'),
      field('max_priority_fee_per_gas', int, 'highest priority fee'),
      defaulted('valid_before', int, 0n, '0 when not set'),
      defaulted('valid_after', int, 0n, '0 when not set'),
      field('calls', list(struct('TempoCall')), 'calls, executed together or not at all'),
    ],
  },
  TempoCall: {
    doc: 'a call of a Tempo transaction',
    fields: [
      field('to', hex, "receiver; '' when a contract is created"),
      defaulted('input', hex, '0x', 'calldata, hex with 0x; 0x when absent (U-tempo-zero)'),
      defaulted('function_signature', hex, '', "selector with 0x; '' when input is absent or too short"),
    ],
  },
}
