/** AWS KMS, by the AWS SDK (docs.aws.amazon.com/kms/latest/APIReference/API_Sign.html). */
import { KEEPER_MS, loadClient } from '../keepers/index.ts'
import type { OpenKeeperKey } from './keeper-key.ts'

/** As much of `@aws-sdk/client-kms` as is used. */
interface Sdk {
  readonly KMSClient: new (options: object) => Client
  readonly SignCommand: new (input: object) => object
}

interface Client {
  send(command: object, options: { readonly abortSignal: AbortSignal }): Promise<{ readonly Signature?: Uint8Array }>
}

/** `aws-kms:alias/ci`, an id or an ARN, of an `ECC_NIST_P256` key. Region, credentials and endpoint are found as the SDK finds them. */
export const openAwsKmsKey: OpenKeeperKey = async (KeyId, tools) => {
  const { KMSClient, SignCommand } = await loadClient<Sdk>('@aws-sdk/client-kms', tools)
  const client = new KMSClient({})
  return async (Message) => {
    const command = new SignCommand({ KeyId, Message, MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' })
    const { Signature } = await client.send(command, { abortSignal: AbortSignal.timeout(KEEPER_MS) })
    return Signature ?? new Uint8Array()
  }
}
