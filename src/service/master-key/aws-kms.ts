/** AWS KMS, by the AWS SDK (docs.aws.amazon.com/kms/latest/APIReference/API_Encrypt.html). */
import { KEEPER_MS, loadClient } from '../../keepers/index.ts'
import { type Keeper, type OpenKeeper, PURPOSE } from './keeper.ts'

/** As much of `@aws-sdk/client-kms` as is used. */
interface Sdk {
  readonly KMSClient: new (options: object) => Client
  readonly EncryptCommand: new (input: object) => object
  readonly DecryptCommand: new (input: object) => object
}

interface Client {
  send(
    command: object,
    options: { readonly abortSignal: AbortSignal },
  ): Promise<{ readonly CiphertextBlob?: Uint8Array; readonly Plaintext?: Uint8Array }>
  destroy(): void
}

/** `aws-kms:alias/quorate`, an id or an ARN. Region, credentials and endpoint are found as the SDK finds them anywhere. */
export const openAwsKms: OpenKeeper = async (KeyId, tools): Promise<Keeper> => {
  const { KMSClient, EncryptCommand, DecryptCommand } = await loadClient<Sdk>('@aws-sdk/client-kms', tools)
  const client = new KMSClient({})
  // The context is authenticated, and stands in CloudTrail.
  const EncryptionContext = { purpose: PURPOSE }
  const send = (command: object) => client.send(command, { abortSignal: AbortSignal.timeout(KEEPER_MS) })
  return {
    wrap: async (Plaintext) =>
      (await send(new EncryptCommand({ KeyId, Plaintext, EncryptionContext }))).CiphertextBlob ?? new Uint8Array(),
    unwrap: async (CiphertextBlob) =>
      (await send(new DecryptCommand({ KeyId, CiphertextBlob, EncryptionContext }))).Plaintext ?? new Uint8Array(),
    close: () => client.destroy(),
  }
}
