import com.android.apksig.ApkSigner;
import java.io.File;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * Signs an APK (v2 and v3) and lays its native libraries on 16 KB pages, which Debian's zipalign
 * cannot: {@code Sign KEYSTORE PASSWORD IN OUT}.
 */
public class Sign {
    public static void main(String[] arguments) throws Exception {
        char[] password = arguments[1].toCharArray();
        KeyStore store = KeyStore.getInstance(new File(arguments[0]), password);
        String name = store.aliases().nextElement();
        var signer = new ApkSigner.SignerConfig.Builder(
            "rejoin",
            (PrivateKey) store.getKey(name, password),
            List.of((X509Certificate) store.getCertificate(name))).build();
        new ApkSigner.Builder(List.of(signer))
            .setInputApk(new File(arguments[2]))
            .setOutputApk(new File(arguments[3]))
            .setMinSdkVersion(24)
            .setAlignmentPreserved(false)
            .setLibraryPageAlignmentBytes(16384)
            .build()
            .sign();
    }
}
