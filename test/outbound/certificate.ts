import { generateKeyPairSync, sign } from 'node:crypto';

/** A self-signed certificate and its key, both PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const algorithms = {
  ec: sequence(oid('2a8648ce3d040302')),
  rsa: sequence(oid('2a864886f70d01010b'), der(0x05)),
} as const;

/** Makes a certificate for one DNS name, valid from 2020 until the end of `lastYear`, without any tool but this runtime. */
export function selfSigned(dnsName: string, lastYear = 2048, kind: keyof typeof algorithms = 'ec'): Certificate {
  const { privateKey, publicKey } =
    kind === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const algorithm = algorithms[kind];
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(dnsName)))));
  const validity = sequence(utcTime('200101000000Z'), utcTime(`${lastYear % 100}1231235959Z`));
  const alternativeName = sequence(oid('551d11'), der(0x04, sequence(der(0x82, Buffer.from(dnsName)))));
  const body = sequence(
    der(0xa0, integer(2)),
    integer(Math.max(1, dnsName.length)),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, sequence(alternativeName)),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const base64 = sequence(body, algorithm, signature).toString('base64').replaceAll(/.{64}/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
  };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.from([value]));
}

function utcTime(text: string): Buffer {
  return der(0x17, Buffer.from(text));
}
