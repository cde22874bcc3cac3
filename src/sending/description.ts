import type { FeeCeiling } from '../../activities/index.ts'
import { isSameAddress, namespaceOfAddress } from '../chain/index.ts'
import { OWN_WALLET } from '../definitions/index.ts'
import type { JsonObject } from '../protocol/index.ts'
import type { SaidAmount } from './amount.ts'
import type { Directory } from './order.ts'

/** A send as it will be carried out; plain JSON. */
export interface SendDescription {
  /** The final receiver. */
  readonly receiver: NamedAddress
  /** In the unit of what is paid, and in its smallest. */
  readonly amount: SaidAmount & { readonly atomicUnit: string }
  /** The contract of the token that is paid. */
  readonly token?: NamedAddress
  /** The call of a contract that is no payment of a known token. */
  readonly call?: ContractCall
  /** On Solana, the account of the receiver that holds the token; it is opened where there is none. */
  readonly tokenAccount?: string
  /** Nobody has a key for the receiver: it is an address of a program on Solana. */
  readonly keyless?: true
  /** In words: what the names of the parties may be taken for. */
  readonly lookAlikes?: readonly string[]
  /** The highest fee; without bounds the service chooses. */
  readonly fee: GasFee | LamportFee
}

interface GasFee {
  readonly maxFeePerGas?: string
  readonly gasLimit?: string
  readonly atMostWei?: string
  /** Where nobody said the price: what it follows from. */
  readonly ceiling?: FeeCeiling
  /** For an approver: the most that their own settings would offer for a unit of gas. */
  readonly yours?: FeeCeiling & { readonly wei: string }
}

/** All of what is offered is paid. */
export interface LamportFee {
  /** For the signature alone. */
  readonly signatureLamports: string
  readonly atMostLamports?: string
  /** Where nobody said it: what it follows from. */
  readonly ceiling?: FeeCeiling
}

export interface NamedAddress {
  readonly name?: string
  readonly address: string
}

/** Decoded by the organization's interface of the contract, or the raw data. */
export type ContractCall =
  | { readonly kind: 'decoded'; readonly function: string; readonly arguments: JsonObject }
  | { readonly kind: 'opaque'; readonly selector: string; readonly bytes: number }

/** The name that the wallets, the assets or the address book have for an address; of several, the one that was meant. */
export function nameAddress(address: string, meant: string, { addressBook, assets, wallets }: Directory): NamedAddress {
  const same = (other: string) => isSameAddress(other, address)
  const names = [
    ...wallets.flatMap(({ wallet: { walletName }, accounts }) => {
      const alike = accounts.filter((account) => namespaceOfAddress(account.address) === namespaceOfAddress(address))
      return alike
        .filter((account) => same(account.address))
        .map(({ name }) => `${OWN_WALLET}${walletName}${alike.length === 1 ? '' : `/${name}`}`)
    }),
    ...Object.keys(assets).filter((each) => same(assets[each]!.address)),
    // Last: no name that somebody gives an address hides that it is the organization's own, or a token.
    ...Object.keys(addressBook).filter((each) => same(addressBook[each]!)),
  ]
  const name = names.find((each) => each === meant) ?? names[0]
  return { ...(name === undefined ? {} : { name }), address }
}
