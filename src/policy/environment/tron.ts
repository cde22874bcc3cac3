import { bool, hex, int, list, string, struct } from '../types.ts'
import { field, type StructTable } from './row.ts'

/** Tron (docs/protocol/policies.md#fields). A field of another contract type is missing, never 0 (U-tron-absent). */
export const tronStructs: StructTable = {
  Tron: {
    doc: 'what a Tron request signs',
    fields: [field('tx', struct('TronTransaction'), 'the transaction')],
  },
  TronTransaction: {
    doc: 'a Tron transaction',
    fields: [
      field('ref_block_bytes', string, 'height of the reference block'),
      field('ref_block_hash', string, 'hash of the reference block'),
      field('expiration', int, 'expiry in milliseconds'),
      field('timestamp', int, 'time in milliseconds'),
      field('data', string, 'memo, not calldata'),
      field('fee_limit', int, 'fee limit in sun'),
      field('contract', list(struct('TronContract')), 'today always one: contract[0]'),
    ],
  },
  TronContract: {
    doc: 'a contract of a Tron transaction; which fields there are depends on its type',
    fields: [
      field('type', string, 'contract type, e.g. TransferContract'),
      field('permission_id', int, 'permission that signs'),
      field('owner_address', string, 'account that acts'),
      field('to_address', string, 'TransferContract: receiver'),
      field('amount', int, 'TransferContract: amount in sun'),
      field('contract_address', string, 'TriggerSmartContract: contract that is called'),
      field('call_value', int, 'TriggerSmartContract: amount in sun'),
      field('data', hex, 'TriggerSmartContract: selector and arguments, hex without 0x'),
      field('call_token_value', int, 'TriggerSmartContract: amount of a TRC-10 token'),
      field('token_id', int, 'TriggerSmartContract: id of a TRC-10 token'),
      field('resource', string, 'delegating and freezing: ENERGY or BANDWIDTH'),
      field('balance', int, 'DelegateResource, UnDelegateResource: amount in sun'),
      field('receiver_address', string, 'DelegateResource, UnDelegateResource: receiver'),
      field('lock', bool, 'DelegateResource: whether it is locked'),
      field('lock_period', int, 'DelegateResource, when locked: blocks'),
      field('frozen_balance', int, 'FreezeBalanceV2: amount in sun'),
      field('unfreeze_balance', int, 'UnfreezeBalanceV2: amount in sun'),
      field('owner', struct('TronPermission'), 'AccountPermissionUpdate: owner permission'),
      field('witness', struct('TronPermission'), 'AccountPermissionUpdate: witness permission'),
      field('actives', list(struct('TronPermission')), 'AccountPermissionUpdate: active permissions'),
    ],
  },
  TronPermission: {
    doc: 'a permission of a Tron account',
    fields: [
      field('type', string, 'Owner, Witness or Active'),
      field('id', int, 'owner 0, witness 1, n-th active 2+n'),
      field('permission_name', string, 'name'),
      field('threshold', int, 'weight that is needed'),
      field('parent_id', int, 'always 0'),
      field('operations', string, 'hex of 32 bytes, one bit for each contract type'),
      field('keys', list(struct('TronKey')), 'at most 5 keys'),
    ],
  },
  TronKey: {
    doc: 'a key of a Tron permission',
    fields: [field('address', string, 'address'), field('weight', int, 'weight')],
  },
}
