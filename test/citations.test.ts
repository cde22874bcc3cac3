/**
 * What is cited can be read: a page, its heading or a file that code or another page names is in this repository. A newcomer
 * has nothing else.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const folders = ['src', 'activities', 'workflows', 'test', 'docs', 'definitions', 'temporal-docker', '.github', '.ci']
/** Recorded, or taken from elsewhere as it stands. */
const recorded = /(^|\/)(histories|vectors)\//

const files = [...folders.filter((name) => existsSync(join(root, name))).flatMap(listFolder), ...listRoot()]
const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
const pages = [...texts].filter(([file]) => file.endsWith('.md'))

function listFolder(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => /\.(ts|mjs|json|jsonl|ya?ml|md)$/.test(file) && !recorded.test(file) && isFile(file))
}

function listRoot(): string[] {
  return readdirSync(root).filter((name) => /\.(md|json)$/.test(name) && name !== 'package-lock.json' && isFile(name))
}

function isFile(path: string): boolean {
  return existsSync(join(root, path)) && statSync(join(root, path)).isFile()
}

/** The anchors of a page as GitHub makes them: of each heading, in lower case, with hyphens for blanks and no other marks. */
function anchorsOf(page: string): ReadonlySet<string> {
  const text = texts.get(page)!.replaceAll(/^```.*?^```$/gms, '')
  const titles = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, title]) => title!)
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

/** Its folder of definitions has a page of its own. */
const isMadeUp = (file: string) => file === 'test/definitions/load.test.ts'

/** Says why a page, with its anchor if one is named, cannot be read; nothing if it can. */
function missing(page: string, anchor: string | undefined): string | undefined {
  if (!existsSync(join(root, page))) return `no file ${page}`
  if (anchor === undefined || !page.endsWith('.md')) return undefined
  return anchorsOf(page).has(anchor) ? undefined : `no heading ${anchor} in ${page}`
}

/** How documents that only some have were cited once: by a name and a section, or by the label of an entry. */
const elsewhere = [
  /\bfacts:?\s+(?:[*#/]+\s*)?(?:protocol|auth|chain|webhooks|policy-language)\b/gi,
  /\bfacts:\s+(?:[*#/]+\s*)?(?:U-|§)/gi,
  /\b(?:facts|brief|design|style|stories|findings|lessons|toolchain|analysis)(?:\.md)?\s+(?:[*#/]+\s*)?§/gi,
  /\b(?:protocol|auth|chain|webhooks|policy-language)(?:\.md)?\s+(?:[*#/]+\s*)?§/g,
  /\b(?:story|stories|finding|findings) [A-Z]\d/g,
  /\bthe brief\b/g,
]

/** Comments of code, and what else is in a file that has no code. */
function proseOf(file: string, text: string): string {
  if (!/\.(ts|mjs)$/.test(file)) return text
  return [...text.matchAll(/\/\*.*?\*\/|\/\/.*?$/gms)].map(([comment]) => comment).join('\n')
}

describe('citations', () => {
  test('citations: enough files were read', () => {
    expect(files.length).toBeGreaterThan(500)
    expect(pages.length).toBeGreaterThan(30)
  })

  test('citations: every page that is named by its path is there, with its heading', () => {
    const faults = [...texts].flatMap(([file, text]) =>
      [...text.matchAll(/(?<![\w/])docs\/([\w/-]+\.md)(?:#([\w-]+))?/g)].flatMap(([, page, anchor]) => {
        const fault = missing(join('docs', page!), anchor)
        return fault === undefined || isMadeUp(file) ? [] : [`${file}: ${fault}`]
      }),
    )
    expect(faults).toEqual([])
  })

  test('citations: every link of a page leads to a file of this repository, with its heading', () => {
    const faults = pages.flatMap(([file, text]) =>
      [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([, path, anchor]) => {
        const page = path === '' ? file : normalize(join(dirname(file), path!))
        const fault = missing(page, anchor)
        return fault === undefined ? [] : [`${file}: ${fault}`]
      }),
    )
    expect(faults).toEqual([])
  })

  test('citations: every file of the code that a page of the documentation names is there', () => {
    const faults = pages
      .filter(([file]) => file.startsWith('docs/') || !file.includes('/'))
      .filter(([file]) => file !== 'CHANGELOG.md')
      .flatMap(([file, text]) =>
        [...text.matchAll(/`((?:src|activities|workflows|test|temporal-docker)\/[\w./-]+)`/g)].flatMap(([, path]) =>
          existsSync(join(root, path!)) ? [] : [`${file}: ${path}`],
        ),
      )
    expect(faults).toEqual([])
  })

  test('citations: every reading of the protocol names the file that carries it out', () => {
    const protocol = pages.filter(([file]) => file.startsWith('docs/protocol/'))
    const readings = protocol.flatMap(([file, text]) =>
      text
        .split(/\n{2,}/)
        .filter((paragraph) => paragraph.startsWith('**Our reading:**'))
        .map((paragraph) => ({ file, paragraph })),
    )
    expect(readings.length).toBeGreaterThan(40)
    const placeless = readings.filter(
      ({ paragraph }) => !/`(src|activities)\/|\]\(\.\.\/\.\.\/src\/|\(U-/.test(paragraph),
    )
    expect(placeless).toEqual([])
  })

  test('citations: every file that takes a reading is named on a page about the protocol', () => {
    const protocol = pages.filter(([file]) => file.startsWith('docs/protocol/')).map(([, text]) => text)
    const taking = [...texts].filter(([file, text]) => /^(src|activities)\//.test(file) && /\bUnstated\b/.test(text))
    expect(taking.length).toBeGreaterThan(30)
    expect(taking.map(([file]) => file).filter((file) => !protocol.some((page) => page.includes(file)))).toEqual([])
  })

  test('citations: nothing outside of this repository is cited by its section or label', () => {
    const faults = [...texts]
      .filter(([file]) => file !== 'test/citations.test.ts')
      .flatMap(([file, text]) =>
        elsewhere.flatMap((pattern) => [...text.matchAll(pattern)].map(([words]) => `${file}: ${words}`)),
      )
    expect(faults).toEqual([])
  })

  test('citations: every page that a comment names, by its path or by its name alone, is in this repository', () => {
    const faults = [...texts]
      .filter(([file]) => /\.(ts|mjs|ya?ml)$/.test(file) && file !== 'test/citations.test.ts' && !isMadeUp(file))
      .flatMap(([file, text]) =>
        [...proseOf(file, text).matchAll(/(?<![\w/.$}-])[\w/-]+\.md\b/g)].flatMap(([page]) =>
          [page, join('docs', page), join(dirname(file), page)].some(isFile) ? [] : [`${file}: ${page}`],
        ),
      )
    expect(faults).toEqual([])
  })
})
