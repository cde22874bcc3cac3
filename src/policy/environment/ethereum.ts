import { dynamic, hex, int, map, number, string, struct, uint } from '../types.ts'
import { defaulted, field, type StructTable } from './row.ts'

/** Ethereum (docs/protocol/policies.md#fields). */
export const ethereumStructs: StructTable = {
  Ethereum: {
    doc: 'what an Ethereum request signs',
    fields: [
      field('tx', struct('EthereumTransaction'), 'the transaction, when one is signed or sent'),
      field('eip_712', struct('Eip712TypedData'), 'the typed data, when it is signed with PAYLOAD_ENCODING_EIP712'),
      field(
        'eip_7702_authorization',
        struct('Eip7702Authorization'),
        'the authorization, when it is signed with PAYLOAD_ENCODING_EIP7702_AUTHORIZATION',
      ),
    ],
  },
  EthereumTransaction: {
    doc: 'an Ethereum transaction',
    fields: [
      field('from', hex, 'sender'),
      field('to', hex, "receiver, account or contract; '' when the transaction creates a contract"),
      field('data', hex, 'calldata, hex with 0x; 0x when empty'),
      field('value', int, 'amount in wei'),
      field('gas', int, 'gas limit'),
      field('gas_price', int, 'legacy price in wei; on EIP-1559 transactions the value of max_fee_per_gas'),
      field('max_fee_per_gas', int, 'EIP-1559, in wei'),
      field('max_priority_fee_per_gas', int, 'EIP-1559, in wei'),
      field('max_fee_per_blob_gas', int, 'EIP-4844, in wei'),
      field('chain_id', int, 'chain id'),
      field('nonce', int, 'nonce'),
      field('type', string, 'LEGACY, TYPE_1 (2930), TYPE_2 (1559), TYPE_3 (4844) or TYPE_4 (7702)'),
      defaulted('function_name', string, '', "name of the called function; '' without a matching interface"),
      defaulted('function_signature', hex, '', "its selector, 0x and 8 digits; '' without a matching interface"),
      field(
        'contract_call_args',
        map(dynamic('abi')),
        'arguments by parameter name, decoded by the uploaded interface; missing without one',
      ),
    ],
  },
  Eip712TypedData: {
    doc: 'EIP-712 typed data',
    fields: [
      field('primary_type', string, 'name of the message type'),
      field('domain', struct('Eip712Domain'), 'the signing domain'),
      field('message', map(dynamic('eip-712')), "the message; nested objects by ['field'], arrays by [i]"),
    ],
  },
  Eip712Domain: {
    doc: 'an EIP-712 domain; optional members may be missing',
    fields: [
      field('name', string, 'name of the application'),
      field('version', string, 'its version'),
      field('verifying_contract', hex, 'contract that verifies the signature'),
      field('chain_id', uint, 'chain id'),
    ],
  },
  Eip7702Authorization: {
    doc: 'an EIP-7702 authorization',
    fields: [
      field('address', hex, 'contract being authorized'),
      field('chain_id', number, 'chain id; 0 means every chain'),
      field('nonce', number, 'nonce'),
    ],
  },
}
