/** On which chain a send pays, and in what. */
import { chainName, type Namespace, namespaceOf, normalizeCaip2 } from '../chain/index.ts'
import type { Asset, Assets } from '../definitions/index.ts'
import { unknownName, usage } from './usage.ts'

export interface TargetRequest {
  /** Name of a token, which knows its chain. @default the currency of the chain */
  readonly asset?: string
  /** In CAIP-2 form. @default that of the asset */
  readonly chain?: string
}

/** A chain, in the form that it is compared in, and the token that is paid there. */
export interface Target {
  readonly caip2: string
  readonly namespace: Namespace
  /** @default the currency of the chain */
  readonly token?: NamedAsset
}

export interface NamedAsset {
  readonly name: string
  readonly asset: Asset
}

const CHAIN = /^(?:eip155:[1-9]\d{0,31}|solana:(?:mainnet|devnet|[1-9A-HJ-NP-Za-km-z]{32,44}))$/

/** Finds the chain and the token that are meant. Throws `cli/usage` or `cli/unknown-name`. */
export function findTarget({ asset: name, chain }: TargetRequest, assets: Assets): Target {
  const caip2 = chain === undefined ? undefined : normalizeCaip2(chain)
  if (name === undefined) {
    if (chain === undefined || caip2 === undefined || !CHAIN.test(chain)) {
      const got = chain === undefined ? '' : `, got \`${chain}\``
      throw usage(`expected --chain in CAIP-2 form${got}`, 'write it like eip155:1 or solana:mainnet')
    }
    return { caip2, namespace: namespaceOf(caip2)! }
  }
  const asset = assets[name]
  if (!Object.hasOwn(assets, name) || asset === undefined) throw unknownName('asset', name, Object.keys(assets))
  if (caip2 !== undefined && caip2 !== asset.chain) {
    throw usage(
      `asset \`${name}\` is on chain ${chainName(asset.chain)}, not on ${chain}`,
      'leave --chain out, or name another asset',
    )
  }
  return { caip2: asset.chain, namespace: namespaceOf(asset.chain)!, token: { name, asset } }
}
