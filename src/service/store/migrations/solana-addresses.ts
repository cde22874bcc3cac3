import type { Migration } from './migration.ts'

/** Whose an address of Solana is, asked for each block that is looked through. */
export const solanaAddresses: Migration = {
  name: '0040-solana-addresses',
  statements: [
    `create index wallet_accounts_solana on wallet_accounts (address) where address_format = 'ADDRESS_FORMAT_SOLANA'`,
  ],
}
