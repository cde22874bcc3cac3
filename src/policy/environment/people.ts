import { address, bool, list, map, string } from '../types.ts'
import { defaulted, field, type StructTable } from './row.ts'

/** People, credentials and the resources that a request is about (docs/protocol/policies.md#fields). */
export const peopleStructs: StructTable = {
  User: {
    doc: 'a user who has approved',
    fields: [
      field('id', string, 'user id'),
      defaulted('tags', list(string), [], "ids of the user's tags"),
      defaulted('email', string, '', 'e-mail address'),
      defaulted('alias', string, '', 'alias'),
    ],
  },
  Credential: {
    doc: 'a credential that an approval was made with',
    fields: [
      field('id', string, 'id of the API key or authenticator'),
      field('user_id', string, 'its owner'),
      field('type', string, '`CREDENTIAL_TYPE_…`: how the credential came to be'),
      defaulted('credential_id', string, '', 'passkey credential id; filled for passkeys only'),
      defaulted('public_key', string, '', 'public key'),
    ],
  },
  Wallet: {
    doc: 'a wallet',
    fields: [
      field('id', string, 'wallet id'),
      field('label', string, 'wallet name'),
      field('imported', bool, 'whether it has ever been imported'),
      field('exported', bool, 'whether it has ever been exported'),
    ],
  },
  WalletAccount: {
    doc: 'an account of a wallet',
    fields: [field('address', address, 'its address; letter case does not count when it starts with `0x`')],
  },
  PrivateKey: {
    doc: 'a private key that stands alone',
    fields: [
      field('id', string, 'private key id'),
      field('label', string, 'private key name'),
      field('tags', list(string), 'ids of its tags'),
      field('imported', bool, 'whether it has ever been imported'),
      field('exported', bool, 'whether it has ever been exported'),
    ],
  },
  Secret: {
    doc: 'a secret',
    fields: [field('static_properties', map(string), 'immutable properties given at import')],
  },
}
