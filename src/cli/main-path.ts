import { extname, join } from 'node:path'

/** The program itself, to be started once more: beside this file, in the sources as in what is built from them. */
export const mainPath: string = join(import.meta.dirname, `main${extname(import.meta.filename)}`)
