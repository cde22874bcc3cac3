import { bool, dynamic, hex, int, list, map, string, struct } from '../types.ts'
import { field, type StructTable } from './row.ts'

/** Solana (docs/protocol/policies.md#fields). Accounts from a lookup table read as `ADDRESS_TABLE_LOOKUP`. */
export const solanaStructs: StructTable = {
  Solana: {
    doc: 'what a Solana request signs',
    fields: [field('tx', struct('SolanaTransaction'), 'the transaction')],
  },
  SolanaTransaction: {
    doc: 'a Solana transaction',
    fields: [
      field('account_keys', list(string), 'all accounts of the transaction'),
      field('program_keys', list(string), 'all programs of the transaction'),
      field('instructions', list(struct('Instruction')), 'its instructions'),
      field('transfers', list(struct('Transfer')), 'transfers of native SOL, top level only'),
      field('spl_transfers', list(struct('SPLTransfer')), 'token transfers, top level only'),
      field('recent_blockhash', string, 'recent blockhash'),
      field('address_table_lookups', list(struct('AddressTableLookup')), 'address table lookups'),
    ],
  },
  Instruction: {
    doc: 'an instruction of a Solana transaction',
    fields: [
      field('program_key', string, 'program that is called'),
      field('accounts', list(struct('Account')), 'accounts it is called with'),
      field('instruction_data_hex', hex, 'data, hex without 0x'),
      field('address_table_lookups', list(struct('AddressTableLookup')), 'lookups used by this instruction'),
      field(
        'parsed_instruction_data',
        struct('SolanaParsedInstructionData'),
        'decoded by the uploaded interface of the program; missing without one',
      ),
    ],
  },
  Account: {
    doc: 'an account of an instruction',
    fields: [
      field('account_key', string, 'address'),
      field('signer', bool, 'whether it signs'),
      field('writable', bool, 'whether it may be written'),
    ],
  },
  Transfer: {
    doc: 'a transfer of native SOL',
    fields: [
      field('from', string, 'sender'),
      field('to', string, 'receiver'),
      field('amount', int, 'amount in lamports'),
    ],
  },
  SPLTransfer: {
    doc: 'a token transfer',
    fields: [
      field('from', string, 'sending token account'),
      field('to', string, 'receiving token account'),
      field('amount', int, 'amount in atomic units'),
      field('owner', string, 'owner of the sending token account'),
      field('signers', list(string), 'multisig signers, if any'),
      field('token_mint', string, "mint; '' for plain Transfer, which does not name it"),
    ],
  },
  AddressTableLookup: {
    doc: 'an address table lookup',
    fields: [
      field('address_table_key', string, 'address of the table'),
      field('writable_indexes', list(int), 'positions of writable accounts'),
      field('readonly_indexes', list(int), 'positions of read-only accounts'),
    ],
  },
  SolanaParsedInstructionData: {
    doc: 'an instruction decoded by an uploaded interface',
    fields: [
      field('instruction_name', string, 'name of the instruction'),
      field('discriminator', string, 'discriminator, lower-case hex without 0x'),
      field('named_accounts', map(string), 'account by its name in the interface'),
      // The published struct table spells it so (U-named-accounts).
      { ...field('named_account', map(string), 'the same as named_accounts'), reads: 'named_accounts' },
      field('program_call_args', map(dynamic('idl')), 'value by the name of the argument'),
    ],
  },
}
