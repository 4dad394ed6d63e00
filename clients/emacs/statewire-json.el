;;; statewire-json.el --- Patches and digests of view states  -*- lexical-binding: t -*-
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; JSON Patch (RFC 6902) on values that are not modified, and the digest with which a client
;; verifies its state: the CRC-32 of the canonical form (RFC 8785).
;;
;; Values are represented as by jsonrpc.el: an object is a plist, an empty object nil, an array a
;; vector, true is t, false is :json-false.  jsonrpc.el reads null as nil too, but the state of a
;; todo list has no null.  Here null is :null.

;;; Code:

(require 'cl-lib)
(require 'seq)

;;; Patches

(define-error 'statewire-patch-error "The patch does not apply")

(defun statewire--index (token last)
  "Parse TOKEN of a JSON Pointer as an array index, at most LAST."
  (unless (string-match-p "\\`\\(0\\|[1-9][0-9]*\\)\\'" token)
    (error "Not an array index: %s" token))
  (let ((index (string-to-number token)))
    (if (<= index last) index (error "Index out of range: %s" token))))

(defun statewire--tokens (pointer)
  "Split POINTER, a JSON Pointer (RFC 6901), into its tokens."
  (when (or (not (stringp pointer)) (string-match-p "\\`[^/]\\|~\\([^01]\\|\\'\\)" pointer))
    (error "Not a JSON Pointer: %s" pointer))
  (mapcar (lambda (token) (string-replace "~0" "~" (string-replace "~1" "/" token)))
          (cdr (split-string pointer "/"))))

(defun statewire--key (token)
  "Return the keyword for TOKEN in a plist."
  (intern (concat ":" token)))

(defun statewire--member (object key)
  "Return the member KEY of OBJECT, or signal an error."
  (cadr (or (and (listp object) (plist-member object key)) (error "No member %s" key))))

(defun statewire--get (value tokens)
  "Return the value in VALUE at the path TOKENS."
  (dolist (token tokens value)
    (setq value (if (vectorp value)
                    (aref value (statewire--index token (1- (length value))))
                  (statewire--member value (statewire--key token))))))

(defun statewire--put (value tokens how &optional new)
  "Return VALUE with a change at the path TOKENS.
HOW is `add' or `replace', with NEW, or `remove'."
  (cond ((null tokens) (if (eq how 'remove) (error "The whole document cannot be removed") new))
        ((cdr tokens)
         (let ((inner (statewire--get value (list (car tokens)))))
           (statewire--put value (list (car tokens)) 'replace
                           (statewire--put inner (cdr tokens) how new))))
        ((vectorp value)
         (let* ((adds (eq how 'add)) (count (length value)) (token (car tokens))
                (at (if (and adds (equal token "-")) count
                      (statewire--index token (if adds count (1- count))))))
           (vconcat (substring value 0 at)
                    (unless (eq how 'remove) (list new))
                    (substring value (if adds at (1+ at))))))
        ((not (listp value)) (error "Neither an array nor an object: %S" value))
        (t
         (let ((key (statewire--key (car tokens))))
           (unless (eq how 'add) (statewire--member value key))
           (if (eq how 'remove)
               (cl-loop for (other inner) on value by #'cddr
                        unless (eq other key) append (list other inner))
             (plist-put (copy-sequence value) key new))))))

(defun statewire--operate (value operation)
  "Return VALUE after OPERATION of a JSON Patch."
  (let ((path (statewire--tokens (plist-get operation :path))))
    (cl-flet ((new () (statewire--member operation :value))
              (from () (statewire--tokens (plist-get operation :from))))
      (pcase (plist-get operation :op)
        ("add" (statewire--put value path 'add (new)))
        ("remove" (statewire--put value path 'remove))
        ("replace" (statewire--get value path) (statewire--put value path 'replace (new)))
        ("copy" (statewire--put value path 'add (statewire--get value (from))))
        ("move"
         (let ((moved (statewire--get value (from))))
           (cond ((equal (from) path) value)
                 ((equal (from) (seq-take path (length (from))))
                  (error "Cannot move a value into itself"))
                 (t (statewire--put (statewire--put value (from) 'remove) path 'add moved)))))
        ("test"
         (if (equal (statewire-canonical (statewire--get value path)) (statewire-canonical (new)))
             value
           (error "Test failed at %s" (plist-get operation :path))))
        (other (error "Unknown operation: %s" other))))))

(defun statewire-patch (value patch)
  "Return VALUE after PATCH, a JSON Patch, without modifying VALUE.
Signal `statewire-patch-error' if PATCH does not apply."
  (condition-case fault
      (if (vectorp patch) (seq-reduce #'statewire--operate patch value)
        (error "The patch is not an array"))
    (error (signal 'statewire-patch-error (cdr fault)))))

;;; Digests

(defun statewire--number (number)
  "Format NUMBER as ECMAScript formats a double."
  (let ((text (number-to-string (abs (float number)))))
    (string-match "\\`\\([0-9]+\\)\\(?:\\.\\([0-9]+\\)\\)?\\(?:e\\(.*\\)\\)?\\'" text)
    (let* ((whole (match-string 1 text))
           ;; The number is 0.DIGITS times 10 to the power of POINT.
           (digits (concat whole (match-string 2 text)))
           (point (+ (length whole) (string-to-number (or (match-string 3 text) "0"))))
           (leading (string-match "[^0]\\|\\'" digits)))
      (setq digits (replace-regexp-in-string "0+\\'" "" (substring digits leading))
            point (- point leading))
      (let ((count (length digits)))
        (concat
         (when (and (< number 0) (> count 0)) "-")
         (cond ((= count 0) "0")
               ((<= count point 21) (concat digits (make-string (- point count) ?0)))
               ((<= 1 point 21) (concat (substring digits 0 point) "." (substring digits point)))
               ((<= -5 point 0) (concat "0." (make-string (- point) ?0) digits))
               (t (concat (substring digits 0 1) (when (> count 1) ".") (substring digits 1)
                          (format "e%+d" (1- point))))))))))

(defun statewire--string (string)
  "Encode STRING with the escapes that RFC 8785 requires."
  (concat "\""
          (replace-regexp-in-string
           "[\0-\x1f\"\\]"
           (lambda (found)
             (or (cdr (assoc found '(("\"" . "\\\"") ("\\" . "\\\\") ("\b" . "\\b") ("\t" . "\\t")
                                     ("\n" . "\\n") ("\f" . "\\f") ("\r" . "\\r"))))
                 (format "\\u%04x" (aref found 0))))
           string t t)
          "\""))

(defun statewire-canonical (value)
  "Encode VALUE in the canonical form of RFC 8785."
  (cond ((stringp value) (statewire--string value))
        ((numberp value) (statewire--number value))
        ((vectorp value) (concat "[" (mapconcat #'statewire-canonical value ",") "]"))
        ((listp value)
         (let ((members (cl-loop for (key inner) on value by #'cddr
                                 collect (cons (substring (symbol-name key) 1) inner))))
           (cl-flet ((units (member) (encode-coding-string (car member) 'utf-16be)))
             (setq members (sort members (lambda (a b) (string< (units a) (units b))))))
           (concat "{"
                   (mapconcat (lambda (member)
                                (concat (statewire--string (car member)) ":"
                                        (statewire-canonical (cdr member))))
                              members ",")
                   "}")))
        (t (cdr (or (assq value '((t . "true") (:json-false . "false") (:null . "null")))
                    (error "Not a JSON value: %S" value))))))

(defconst statewire--crc-table
  (let ((table (make-vector 256 0)))
    (dotimes (byte 256)
      (let ((crc byte))
        (dotimes (_ 8)
          (setq crc (logxor (ash crc -1) (if (= (logand crc 1) 1) #xedb88320 0))))
        (aset table byte crc)))
    table)
  "The table of the CRC-32 of IEEE 802.3.")

(defun statewire-digest (value)
  "Compute the digest of VALUE, as in the result of `store/state'."
  (let ((crc #xffffffff))
    (seq-doseq (byte (encode-coding-string (statewire-canonical value) 'utf-8-unix))
      (setq crc (logxor (ash crc -8)
                        (aref statewire--crc-table (logand (logxor crc byte) #xff)))))
    (logxor crc #xffffffff)))

(provide 'statewire-json)

;;; statewire-json.el ends here
