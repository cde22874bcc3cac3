import { addressFormatRow, isAddressFormat } from './address-formats.ts'
import { isCurve } from './curves.ts'
import { parsePath } from './path.ts'

/** The inputs of an account's derivation, in the wire's words. */
export interface AccountSpec {
  readonly curve: string
  readonly path: string
  readonly addressFormat: string
}

/** The one format of paths that the API has. */
const PATH_FORMAT = 'PATH_FORMAT_BIP32'

/** Whether an account can be derived: the API's literal text if not (docs/protocol/keys.md#accounts), else nothing. */
export function checkAccount(account: AccountSpec & { readonly pathFormat: string }): string | undefined {
  if (account.pathFormat !== PATH_FORMAT) return 'invalid path format'
  return checkDerivation(account)
}

/** The same for an account whose path format is known. */
export function checkDerivation({ curve, path, addressFormat }: AccountSpec): string | undefined {
  if (!parsePath(path)) return 'invalid path'
  if (!isCurve(curve)) return 'invalid curve'
  if (!isAddressFormat(addressFormat)) return 'invalid address format'
  // Which of the two texts it is for a pair that does not fit, the sources leave open.
  return addressFormatRow(addressFormat).curves.includes(curve) ? undefined : 'invalid address format'
}
