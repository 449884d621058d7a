import { gzipSync } from 'node:zlib';
import { png, type TestFile } from './files.ts';
import { zipOf } from './zip.ts';

const script = '<script>alert(document.domain)</script>';
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">${script}</svg>`;
const html = `<!doctype html><title>x</title>${script}`;
const pdf = '%PDF-1.7\n1 0 obj <</OpenAction <</S /JavaScript /JS (app.alert(1))>>>> endobj\n';

/** Bytes as they are, from text of one character for each. */
export const bytesOf = (text: string) => Buffer.from(text, 'latin1');

/** What browsers run or show as a page, whatever it is called: it must be saved, as a type that nobody shows. */
export const saved: Readonly<Record<string, TestFile>> = {
  'SVG with script': { name: 'logo.svg', bytes: bytesOf(svg), type: 'image/svg+xml' },
  'SVG behind an XML declaration': { name: 'a.svg', bytes: bytesOf(`<?xml version="1.0"?>\n${svg}`) },
  HTML: { name: 'page.html', bytes: bytesOf(html), type: 'text/html' },
  'HTML in UTF-16': { name: 'page.htm', bytes: Buffer.from(`\ufeff${html}`, 'utf16le'), type: 'text/html' },
  'HTML behind blanks': { name: 'a.txt', bytes: bytesOf(`${' '.repeat(2000)}${html}`), type: 'text/plain' },
  'text with a tag far behind': { name: 'a.txt', bytes: bytesOf(`${'words '.repeat(20_000)}${script}`) },
  'an MHTML archive': { name: 'a.mhtml', bytes: bytesOf(`MIME-Version: 1.0\n\n${html}`), type: 'text/plain' },
  'a program': { name: 'setup.exe', bytes: bytesOf('MZ\x90\0\x03\0\0\0'), type: 'image/png' },
  'a shell script': { name: 'run.sh', bytes: bytesOf('#!/bin/sh\nrm -rf /\0') },
  'a Java archive': { name: 'a.jar', bytes: zipOf({ 'META-INF/MANIFEST.MF': 'Main-Class: A' }) },
  'a gzip bomb': { name: 'bomb.gz', bytes: gzipSync(Buffer.alloc(20_000_000)) },
  'a bomb of an archive': { name: 'bomb.zip', bytes: zipOf({ zeros: Buffer.alloc(20_000_000) }) },
  'a document that is a bomb': { name: 'bomb.docx', bytes: zipOf({ 'word/document.xml': Buffer.alloc(20_000_000) }) },
  'a picture that unpacks to gigabytes': { name: 'huge.png', bytes: png(65_535, 65_535), type: 'image/png' },
  'a media file of no known kind': { name: 'a.mp4', bytes: bytesOf('\0\0\0\x18ftypevil<script>') },
};

/** Two kinds at once: shown as the kind that their first bytes are, and as nothing else. */
export const polyglots: Readonly<Record<string, [TestFile, string]>> = {
  'GIF and JavaScript': [{ name: 'a.gif', bytes: bytesOf(`GIF89a=1;/*\0*/${script}`) }, 'image/gif'],
  'PNG and HTML': [{ name: 'a.png', bytes: Buffer.concat([png(), bytesOf(html)]), type: 'text/html' }, 'image/png'],
  'JPEG and PHP': [{ name: 'a.jpg', bytes: bytesOf('\xff\xd8\xff\xfe\0\x10<?php system($_GET[0]); ?>') }, 'image/jpeg'],
  'PDF with JavaScript': [{ name: 'a.pdf', bytes: bytesOf(`${pdf}${html}`), type: 'text/html' }, 'application/pdf'],
  'WebP and a page': [{ name: 'a.webp', bytes: bytesOf(`RIFF\x40\0\0\0WEBPVP8 ${html}`) }, 'image/webp'],
  'PNG that is called JPEG': [{ name: 'IMG_1.JPG', bytes: png() }, 'image/png'],
};

/** What a name promises and the content is not. */
export const misnamed: Readonly<Record<string, TestFile>> = {
  'HTML as PNG': { name: 'photo.png', bytes: bytesOf(html), type: 'image/png' },
  'SVG as JPEG': { name: 'photo.JPEG', bytes: bytesOf(svg), type: 'image/jpeg' },
  'a program as GIF': { name: 'x.gif', bytes: bytesOf('MZ\x90\0'), type: 'image/gif' },
  'HTML as PDF': { name: 'bill.pdf', bytes: bytesOf(html), type: 'application/pdf' },
  'PDF not at the beginning': { name: 'bill.pdf', bytes: bytesOf(`${html}${pdf}`) },
  'the beginning of a PNG': { name: 'a.png', bytes: bytesOf('\x89PNG') },
};
