import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { bundleWorkflowCode, type WorkflowBundle } from '@temporalio/worker'

/** Sources by their paths in the repository, as `keep.ts` has read them at a commit. */
export interface KeptWorkflows {
  readonly commit: string
  readonly date: string
  readonly files: Readonly<Record<string, string>>
}

export const lastRelease = JSON.parse(
  readFileSync(join(import.meta.dirname, 'workflows.json'), 'utf8'),
) as KeptWorkflows

const silent = () => {}
const quiet = { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent }

/**
 * Bundles kept workflows as a worker of then did, with the SDK of today.
 * @param edit changes a file before that, for a release that went wrong
 */
export async function bundleKept(
  { files }: KeptWorkflows,
  edit: (path: string, text: string) => string = (_, text) => text,
): Promise<WorkflowBundle> {
  // Inside the repository, so that its imports resolve.
  const folder = mkdtempSync(join(import.meta.dirname, '.release-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), edit(path, text))
    }
    const at = (name: string) => join(folder, 'workflows', `${name}.ts`)
    return await bundleWorkflowCode({
      workflowsPath: at('index'),
      workflowInterceptorModules: [at('interceptors')],
      payloadConverterPath: at('payload-converter'),
      failureConverterPath: at('failure-converter'),
      logger: quiet,
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
