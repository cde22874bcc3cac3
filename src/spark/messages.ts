/**
 * The messages that operators are given, as Protocol Buffers (protobuf.dev, "encoding"; fields by
 * docs/protocol/spark.md#building-blocks).
 */
import { concatBytes, encodeUtf8 } from '../encoding/index.ts'

/** One recipient's share of a tweak, and the commitments to check it against. */
export interface SecretShare {
  readonly share: Uint8Array
  readonly proofs: readonly Uint8Array[]
}

/** The tweak of one leaf for one operator: its share, and the public shares of all operators. */
export interface LeafTweak {
  readonly leafId: string
  readonly tweak: SecretShare
  /** Every operator's share times G, by the operator's id. */
  readonly publicShares: ReadonlyMap<string, Uint8Array>
}

export interface SendLeafTweak extends LeafTweak {
  readonly secretCipher: Uint8Array
  readonly signature: Uint8Array
  readonly refundSignature: Uint8Array
  readonly directRefundSignature: Uint8Array
  readonly directFromCpfpRefundSignature: Uint8Array
}

/** `SecretShare {1 secret_share, 2 repeated proofs}`. */
export function writeSecretShare({ share, proofs }: SecretShare): Uint8Array {
  return concatBytes(field(1, share), ...proofs.map((proof) => element(2, proof)))
}

/** `SendLeafKeyTweaks {1 repeated leaves_to_send}`. */
export function writeSendTweaks(leaves: readonly SendLeafTweak[]): Uint8Array {
  return concatBytes(...leaves.map((leaf) => element(1, writeSendTweak(leaf))))
}

/** `ClaimLeafKeyTweaks {1 repeated leaves_to_receive}`. */
export function writeClaimTweaks(leaves: readonly LeafTweak[]): Uint8Array {
  return concatBytes(...leaves.map((leaf) => element(1, writeLeafTweak(leaf))))
}

/** `SendLeafKeyTweak`: the three fields of a claim, and 4 to 8. */
function writeSendTweak(leaf: SendLeafTweak): Uint8Array {
  return concatBytes(
    writeLeafTweak(leaf),
    field(4, leaf.secretCipher),
    field(5, leaf.signature),
    field(6, leaf.refundSignature),
    field(7, leaf.directRefundSignature),
    field(8, leaf.directFromCpfpRefundSignature),
  )
}

/** `ClaimLeafKeyTweak {1 leaf_id, 2 secret_share_tweak, 3 pubkey_shares_tweak}`. */
function writeLeafTweak({ leafId, tweak, publicShares }: LeafTweak): Uint8Array {
  const entries = [...publicShares].map(([operatorId, share]) =>
    element(3, concatBytes(field(1, encodeUtf8(operatorId)), field(2, share))),
  )
  return concatBytes(field(1, encodeUtf8(leafId)), element(2, writeSecretShare(tweak)), ...entries)
}

/** A field that is left out when it is empty, as proto3 has it. */
function field(number: number, bytes: Uint8Array): Uint8Array {
  return bytes.length === 0 ? new Uint8Array() : element(number, bytes)
}

/** A field of wire type 2: tag, length, bytes. All field numbers here are below 16, so the tag is one byte. */
function element(number: number, bytes: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of((number << 3) | 2), varint(bytes.length), bytes)
}

/** Seven bits a byte, the lowest first. */
function varint(value: number): Uint8Array {
  const bytes: number[] = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Uint8Array.of(...bytes, rest)
    bytes.push((rest % 128) | 128)
  }
}
