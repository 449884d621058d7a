import { readFile, writeFile } from 'node:fs/promises';
import { defaultArchiveBounds } from '../../../config.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { createArchiveReader, type ArchivePackage } from '../../../packages/archive/archive.ts';
import { addSignature } from '../../../packages/archive/signature.ts';
import { listOf, printAnswer } from '../../terminal/print.ts';
import { packageLines } from '../package-lines.ts';
import { noticesFile } from './dependency-files.ts';
import { packFolder } from './npm-pack.ts';
import { orRefuse } from './or-refuse.ts';

interface PackOptions {
  json?: boolean;
  /** The file of a private key of Ed25519, in PEM. */
  sign?: string;
}

const readArchive = createArchiveReader({
  bounds: defaultArchiveBounds,
  trustedKeys: [],
  signatures: 'off',
  log: { warn: () => undefined },
});

/** The command `plugin pack`: writes the archive of a folder into the working directory, if a service would take it. */
export async function packPlugin(directory: string, options: PackOptions): Promise<void> {
  const { archive } = await packFolder(directory);
  const pack = await orRefuse(readArchive(archive));
  const signed = options.sign === undefined ? archive : await sign(archive, pack, options.sign);
  const { id, version } = pack.manifest;
  // Services go by plugin.json, so that its version names the archive, and not that of package.json.
  const name = `${id}-${version}.tgz`;
  await writeFile(name, signed);
  const packages = pack.packages.map(({ name: of, version: at, license, bytes }) => {
    return { name: of, version: at, license, bytes };
  });
  const answer = { file: name, id, version, hash: pack.bundle.hash, bytes: signed.length, packages };
  printAnswer(answer, options, () => [
    `${name}: ${id} ${version}, ${signed.length} bytes`,
    ...listOf(`npm packages in it, with their licences in ${noticesFile}:`, packageLines(packages)),
  ]);
}

async function sign(archive: Buffer, { filesHash }: ArchivePackage, keyFile: string): Promise<Buffer> {
  const key = await readFile(keyFile, 'utf8').catch((error: Error) => {
    throw new OperatorError(`The key cannot be read: ${error.message}`, { cause: error });
  });
  const signed = addSignature(archive, filesHash, key);
  if (!signed) {
    throw new OperatorError(
      `${keyFile} holds no private key of Ed25519: openssl genpkey -algorithm ed25519 -out ${keyFile} makes one.`,
    );
  }
  await orRefuse(readArchive(signed));
  return signed;
}
