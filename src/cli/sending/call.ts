/** What a transaction does: it pays ether, pays a token, or calls a contract. */
import { encodeTransfer } from '../../chain/index.ts'
import type { Asset, Assets } from '../../definitions/index.ts'
import { parseAmount, parseAssetAmount } from './amount.ts'
import { unknownName, usage } from './usage.ts'

/** What is to be done, as a person asks for it. */
export interface CallRequest {
  /** With its unit; may be absent where `data` is given. */
  readonly amount?: string
  /** Name of a token, which knows its chain. */
  readonly asset?: string
  /** In CAIP-2 form. */
  readonly chain?: string
  /** Bytes for a contract, hex with `0x`. */
  readonly data?: string
}

/** A call as it goes into the parameters of a send, and its amount for people. */
interface Call {
  readonly caip2: string
  readonly to: string
  readonly value: string
  readonly data?: string
  readonly amount: string
}

/** Makes the call that a request asks for. Throws `cli/usage` or `cli/unknown-name`. */
export function makeCall(
  request: CallRequest,
  {
    receiver,
    assets,
  }: { readonly receiver: { readonly name: string; readonly address: string }; readonly assets: Assets },
): Call {
  const { amount, asset: name, chain, data } = request
  if (data !== undefined && name !== undefined) {
    throw usage(
      '--asset and --data exclude each other',
      'a token is paid by --asset alone, another call is made by --data',
    )
  }
  if (amount === undefined && data === undefined) throw usage('expected --amount', 'see `quorate send --help`')
  if (name !== undefined) {
    const asset = assets[name]
    if (!Object.hasOwn(assets, name) || asset === undefined) throw unknownName('asset', name, Object.keys(assets))
    return makeTransfer({ name, asset, amount: amount!, chain, receiver })
  }
  if (chain === undefined || !/^eip155:[1-9]\d{0,31}$/.test(chain)) {
    const got = chain === undefined ? '' : `, got \`${chain}\``
    throw usage(`expected --chain in CAIP-2 form${got}`, 'write it like eip155:1')
  }
  const { text, atomic } = parseAmount(amount ?? '0eth')
  const call = { caip2: chain, to: receiver.address, value: atomic.toString(), amount: text }
  if (data === undefined) return call
  if (!/^0x(?:[0-9a-fA-F]{2})+$/.test(data)) {
    throw usage(
      `expected --data to be hex of whole bytes with 0x, got \`${data.slice(0, 40)}\``,
      'see `quorate send --help`',
    )
  }
  return { ...call, data: data.toLowerCase() }
}

function makeTransfer({
  name,
  asset,
  amount: written,
  chain,
  receiver,
}: {
  readonly name: string
  readonly asset: Asset
  readonly amount: string
  readonly chain: string | undefined
  readonly receiver: { readonly name: string; readonly address: string }
}): Call {
  if (chain !== undefined && chain !== asset.chain) {
    throw usage(
      `asset \`${name}\` is on chain ${asset.chain}, not on ${chain}`,
      'leave --chain out, or name another asset',
    )
  }
  if (receiver.address.toLowerCase() === asset.address.toLowerCase()) {
    throw usage(
      `\`${receiver.name}\` is the contract of \`${name}\` itself`,
      'what is paid to it is lost; name who is to have it',
    )
  }
  const { text, atomic } = parseAssetAmount(written, { name, asset })
  const data = encodeTransfer(receiver.address, atomic)
  return { caip2: asset.chain, to: asset.address, value: '0', data, amount: text }
}
