/**
 * A shared plan store in a bucket of S3, or of a server that speaks as S3 does, by the AWS SDK, which is no dependency and is loaded
 * here. What decides is a conditional write (docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html):
 * `If-None-Match: *` puts an object unless there is one, `If-Match` replaces the version that has this ETag. Reads after writes
 * are consistent, listings too. A server that ignores the conditions is found out before anything is written.
 */
import { ApplyError } from './error.ts'
import { STORE_CONNECT_MS, STORE_MS } from './store-limits.ts'
import type { ListedObject, ObjectStore, StorePlace } from './store-model.ts'

/** As much of `@aws-sdk/client-s3` as is used. */
interface Sdk {
  readonly S3Client: new (options: object) => Client
  readonly GetObjectCommand: Command
  readonly HeadObjectCommand: Command
  readonly PutObjectCommand: Command
  readonly DeleteObjectCommand: Command
  readonly ListObjectsV2Command: Command
}

type Command = new (input: object) => object

interface Client {
  send(command: object, options: { readonly abortSignal: AbortSignal }): Promise<Answer>
  destroy(): void
}

interface Answer {
  readonly ETag?: string
  readonly Body?: { transformToString(): Promise<string> }
  readonly Contents?: readonly { readonly Key?: string; readonly LastModified?: Date }[]
  readonly NextContinuationToken?: string
}

const LIBRARY = '@aws-sdk/client-s3'

/** Another conditional write of the same object is under way; S3 asks to try again. */
const RACED = 409
const RACED_TRIES = 8

/** Opens `s3://bucket/prefix?endpoint=…&region=…`. Credentials, and what is not said, are found as the SDK finds them anywhere. */
export async function openS3Store(place: StorePlace): Promise<ObjectStore> {
  const sdk = await loadSdk()
  const url = new URL(place.url.reveal())
  const Bucket = url.hostname
  const prefix = url.pathname.replace(/^\/+|\/+$/g, '')
  const [endpoint, region] = [url.searchParams.get('endpoint'), url.searchParams.get('region')]
  const options = {
    ...(region ? { region } : {}),
    // Servers of others have buckets in the path, and know fewer checksums.
    ...(endpoint
      ? {
          endpoint,
          forcePathStyle: true,
          requestChecksumCalculation: 'WHEN_REQUIRED',
          responseChecksumValidation: 'WHEN_REQUIRED',
        }
      : {}),
    requestHandler: { requestTimeout: STORE_MS, connectionTimeout: STORE_CONNECT_MS },
  }
  const client = new sdk.S3Client(options)
  // A delete that is sent again could take away what somebody else has put there since the first.
  const once = new sdk.S3Client({ ...options, maxAttempts: 1 })
  const keyOf = (name: string) => (prefix === '' ? name : `${prefix}/${name}`)
  const send = (command: object, by = client) => by.send(command, { abortSignal: AbortSignal.timeout(STORE_MS) })
  const find = async <T>(command: object, read: (answer: Answer) => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await read(await send(command))
    } catch (error) {
      // A bucket that is not there is no answer about an object.
      if (statusOf(error) === 404 && (error as Error).name !== 'NoSuchBucket') return undefined
      throw error
    }
  }
  /** True where the condition held, false where the server says that it did not. */
  const putIf = async (name: string, text: string, condition: object): Promise<boolean> => {
    for (let tries = 1; ; tries++) {
      try {
        await send(new sdk.PutObjectCommand({ Bucket, Key: keyOf(name), Body: text, ...condition }))
        return true
      } catch (error) {
        const status = statusOf(error)
        // 404: what was to be replaced is gone.
        if (status === 412 || (status === 404 && 'IfMatch' in condition && (error as Error).name !== 'NoSuchBucket'))
          return false
        if (status !== RACED || tries === RACED_TRIES) throw error
      }
    }
  }
  const listUnder = async (under: string): Promise<readonly ListedObject[]> => {
    const found: ListedObject[] = []
    for (let token: string | undefined; ; ) {
      const answer = await send(
        new sdk.ListObjectsV2Command({ Bucket, Prefix: under, ...(token ? { ContinuationToken: token } : {}) }),
      )
      for (const { Key = '', LastModified } of answer.Contents ?? [])
        found.push({ name: Key.slice(under.length), writtenAtMs: LastModified?.getTime() ?? 0 })
      token = answer.NextContinuationToken
      if (!token) return found
    }
  }
  const store: ObjectStore = {
    read: (name) =>
      find(new sdk.GetObjectCommand({ Bucket, Key: keyOf(name) }), async ({ Body, ETag }) => ({
        text: (await Body?.transformToString()) ?? '',
        version: ETag ?? '',
      })),
    versionOf: (name) => find(new sdk.HeadObjectCommand({ Bucket, Key: keyOf(name) }), ({ ETag = '' }) => ETag),
    putIfAbsent: (name, text) => putIf(name, text, { IfNoneMatch: '*' }),
    replace: (name, text, version) => putIf(name, text, { IfMatch: version }),
    put: async (name, text) => {
      await send(new sdk.PutObjectCommand({ Bucket, Key: keyOf(name), Body: text }))
    },
    async remove(name) {
      const IfMatch = await store.versionOf(name)
      if (IfMatch === undefined) return
      try {
        await send(new sdk.DeleteObjectCommand({ Bucket, Key: keyOf(name), IfMatch }), once)
      } catch (error) {
        // What was to be taken away is gone, or another object stands there.
        if (statusOf(error) !== 412 && statusOf(error) !== 404) throw error
      }
    },
    list: (shelf) => listUnder(keyOf(`${shelf}/`)),
    listAll: async () => (await listUnder(prefix === '' ? '' : `${prefix}/`)).map(({ name }) => name),
    async assertConditions() {
      // Of one that ignores `If-None-Match`, the second write would be done too; of one that ignores `If-Match`, the third.
      await store.putIfAbsent(PROBE, 'a write that is there')
      const isDecided =
        !(await store.putIfAbsent(PROBE, 'a write that is there')) &&
        !(await store.replace(PROBE, 'a write that is there', '"00000000000000000000000000000000"'))
      if (isDecided) return
      throw new ApplyError('apply/store-place', `the server of ${place.shown} ignores the conditions of writes`, {
        facts: { 'what was asked': 'If-None-Match: * and If-Match, of PutObject' },
        next: 'use S3 itself, another server that has conditional writes, or PostgreSQL: without them two machines could pay one reference',
      })
    },
    close: async () => {
      client.destroy()
      once.destroy()
    },
  }
  return store
}

/** The object that conditions are tried on; it says nothing. */
const PROBE = 'about/conditions'

function statusOf(error: unknown): number | undefined {
  return (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata?.httpStatusCode
}

async function loadSdk(): Promise<Sdk> {
  try {
    const name = LIBRARY
    return (await import(name)) as Sdk
  } catch (cause) {
    throw new ApplyError('apply/store-place', `the client library \`${LIBRARY}\` is not installed`, {
      next: `install it beside quorate: \`npm install ${LIBRARY}\``,
      cause,
    })
  }
}
