import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import type { Source } from '../diagnostics/index.ts'

/** A unified diff, as `git apply` reads it. */
export function differenceOf(
  { path, text: before }: Pick<Source, 'path' | 'text'>,
  after: string,
  style: { readonly added: (text: string) => string; readonly removed: (text: string) => string },
): string {
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY }
  const patch = createTwoFilesPatch(path, path, before, after, undefined, undefined, options)
  const lines = patch.trimEnd().split('\n')
  const painted = lines.map((line) =>
    line.startsWith('+') ? style.added(line) : line.startsWith('-') ? style.removed(line) : line,
  )
  return `${painted.join('\n')}\n`
}
