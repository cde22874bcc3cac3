import { join } from 'node:path'
import { type FolderReader, type LoadedDefinitions, loadDefinitions } from '../../src/definitions/index.ts'
import { type Diagnostic, positionAt } from '../../src/diagnostics/index.ts'
import { encodeUtf8 } from '../../src/encoding/index.ts'

export const ORGANIZATION_ID = '0b1c6c7e-55a4-4f0a-9c54-3f8a4a1d2e3f'

/** Public keys on their curves. */
export const KEYS = {
  p256: '0264fb511728122da3b7b8a449c79d7a9e3fb847f4cbf0efbc6c82f68ada0ae5eb',
  p256Generator: '036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296',
  p256Double: '037cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978',
  secp256k1: '0235a5d602572338e4e6a2fa0b988d5694999ea2914d4da2bb76baa641a7cfbcf6',
  ed25519: '94049caccc796d7a4f3a60b95ad457bcaa5ece09c9f38cbd173adb31eaa23fbe',
} as const

export const OUTSIDE = {
  env: { ORG: ORGANIZATION_ID, LIMIT: '1000', EMPTY: '' },
  vars: { alicePublicKey: KEYS.p256, bobPublicKey: KEYS.p256Generator, carolPublicKey: KEYS.p256Double },
}

/** Files by name, in memory; the order of names is the order in which a folder lists them. */
export function memoryFolder(files: Readonly<Record<string, string | Uint8Array | Error>>): FolderReader {
  const names = (folder: string) =>
    Object.keys(files)
      .map((path) => join('acme', path))
      .filter((path) => path.startsWith(`${folder}/`))
      .map((path) => path.slice(folder.length + 1).split('/'))
  return {
    async list(folder) {
      const first = new Map(names(folder).map(([name, ...rest]) => [name!, rest.length > 0]))
      return [...first].map(([name, isFolder]) => ({ name, kind: isFolder ? 'folder' : 'file' }) as const)
    },
    async read(path) {
      const content = files[path.slice('acme/'.length)]
      if (content === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
      if (content instanceof Error) throw content
      return typeof content === 'string' ? encodeUtf8(content) : content
    },
  }
}

export function loadFiles(
  files: Parameters<typeof memoryFolder>[0],
  outside: Parameters<typeof loadDefinitions>[1] = OUTSIDE,
): Promise<LoadedDefinitions> {
  return loadDefinitions('acme', { ...outside, readFolder: memoryFolder(files) })
}

/** A diagnostic as a fixture writes it. */
export interface Fault {
  readonly at: string
  readonly code: string
  readonly severity?: string
  readonly message: string
  readonly help?: string
  /** The text that is marked. */
  readonly marked: string
  /** Places of the related notes. */
  readonly see?: readonly string[]
}

export function toFault({ code, severity, message, help, span, related }: Diagnostic): Fault {
  const place = ({ source, start }: Diagnostic['span']) => {
    const { line, column } = positionAt(source, start)
    return `${source.path.replace('acme/', '')}:${line}:${column}`
  }
  return {
    at: place(span),
    code,
    ...(severity === 'error' ? {} : { severity }),
    message,
    ...(help === undefined ? {} : { help }),
    marked: span.source.text.slice(span.start, span.end),
    ...(related.length === 0 ? {} : { see: related.map(({ span }) => place(span)) }),
  }
}

/** Splits a fixture: files under `#### <name>` lines, what is expected under `#### EXPECT`. */
export function splitFixture(text: string): { readonly files: Record<string, string>; readonly expected: string } {
  const parts = text.split(/^#### (.+)\n/m).slice(1)
  const sections = parts.flatMap((part, i): [string, string][] => (i % 2 === 0 ? [[part, parts[i + 1]!]] : []))
  const files = Object.fromEntries(sections.filter(([name]) => name !== 'EXPECT'))
  return { files, expected: sections.find(([name]) => name === 'EXPECT')?.[1] ?? '' }
}
