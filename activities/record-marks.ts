/** The line that ends each record of a plan store: who wrote it had the key, for this name, as this version. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { ApplyError } from './error.ts'

/** Where the key of a store's records is kept: beside the store, and not in it. */
export const keyFileOf = (folder: string) => `${folder}.key`

/** Of a record that is written once `/1`, and the MAC; of another `/2`, its number and the MAC, which covers the number. */
export const MAC = /\nquorate-mac\/(?:1|2 ([1-9][0-9]{0,14})) ([0-9a-f]{64})$/

export interface MarkOf {
  readonly key: Buffer
  readonly name: string
}

export interface OpenedRecord {
  readonly text: string
  /** 0 for one that is written once. */
  readonly version: number
}

export function mark(text: string, { key, name, version }: MarkOf & { readonly version: number }): string {
  const form = version === 0 ? '1' : `2 ${version}`
  return `${text}\nquorate-mac/${form} ${macOf(key, name, text, version)}`
}

/** Throws `apply/record-refused`. */
export function open(path: string, marked: string, { key, name }: MarkOf): OpenedRecord {
  const [line, number = '0', mac] = MAC.exec(marked) ?? []
  const text = marked.slice(0, marked.length - (line?.length ?? 0))
  const version = Number(number)
  if (mac !== undefined && timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(key, name, text, version))))
    return { text, version }
  throw new ApplyError('apply/record-refused', `\`${path}\` of the plan store was not written with its key`, {
    facts: { key: keyFileOf(path.slice(0, path.length - name.length - 1)), submitted: 'nothing by this step' },
  })
}

function macOf(key: Buffer, name: string, text: string, version: number): string {
  const of = version === 0 ? ['quorate.plan-store/1', name] : ['quorate.plan-store/2', name, version]
  // No line break stands in JSON: where the name ends is clear.
  return createHmac('sha256', key)
    .update(`${JSON.stringify(of)}\n${text}`)
    .digest('hex')
}
